import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('discovery_runs', {
    key: 'id',
    id: 'uuid',
    // Null for runs of the operator.
    workspace_id: 'uuid?',
    account_id: 'uuid?',
    origin: 'text',
    // What the run belongs to, such as the id of a watched source; null for a run that was requested.
    origin_id: 'text?',
    status: 'text',
    location: 'text',
    place_key: 'text?',
    issue_areas: 'json',
    depth: 'text',
    seeds: 'json',
    phase: 'text?',
    done: 'int',
    total: 'int',
    queries: 'int',
    sources_found: 'int',
    sources_fetched: 'int',
    sources_skipped: 'int',
    candidates: 'int',
    duplicates: 'int',
    error_code: 'text?',
    error_detail: 'text?',
    job_id: 'uuid?',
    created_at: 'time',
    started_at: 'time?',
    completed_at: 'time?',
  }, { unique: [['id'], ['origin_id']], index: [['workspace_id', 'key'], ['account_id', 'key'], ['place_key', 'status']] });

  await schema.createTable('discovery_candidates', {
    key: 'id',
    id: 'uuid',
    run_key: 'bigint',
    workspace_id: 'uuid?',
    // Type, folded name and place: the same in every run.
    fingerprint: 'text',
    type: 'text',
    name: 'text',
    score: 'real',
    claims: 'json',
    sources: 'json',
    match: 'json?',
    // Null until the candidate was compared with known actors.
    matched_at: 'time?',
    decision: 'text',
    decided_at: 'time?',
    decided_by: 'uuid?',
    note: 'text?',
    // The actor that was created, or that the candidate was merged into.
    entity_id: 'uuid?',
    // What reverts the decision.
    done: 'json?',
    created_at: 'time',
    updated_at: 'time',
  }, {
    unique: [['id'], ['run_key', 'fingerprint']],
    index: [['run_key', 'decision', 'score', 'key'], ['run_key', 'score', 'key'], ['workspace_id', 'fingerprint', 'decision']],
    references: { run_key: 'discovery_runs.key' },
  });
}
