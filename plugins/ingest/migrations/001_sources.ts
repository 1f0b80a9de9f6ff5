import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('ingest_sources', {
    key: 'id',
    id: 'uuid',
    // Null for a source of the operator, whose signals are public.
    workspace_id: 'uuid?',
    url: 'text',
    name: 'text',
    // Null until the first read recognises it.
    platform: 'text?',
    place_key: 'text?',
    issues: 'json',
    tags: 'json',
    cadence_seconds: 'int?',
    state: 'text',
    health: 'text',
    fault: 'text?',
    fault_detail: 'text?',
    failing_since: 'time?',
    failures: 'int',
    row_count: 'int',
    last_read_at: 'time?',
    last_success_at: 'time?',
    last_change_at: 'time?',
    // The content whose rows are stored, and when it was compared with them.
    applied_hash: 'text?',
    applied_at: 'time?',
    // Passages of pages whose changes are not reported.
    ignored: 'json',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid?',
  }, { unique: [['id']], index: [['workspace_id', 'key'], ['place_key', 'health'], ['health', 'failing_since']] });

  // How many sources each workspace has: writers wait for each other here, so that none exceeds its plan.
  await schema.createTable('ingest_totals', { workspace_id: 'uuid', total: 'int' }, { primary: ['workspace_id'] });

  await schema.createTable('ingest_rows', {
    key: 'id',
    source_key: 'bigint',
    row_key: 'text',
    hash: 'text',
    data: 'json',
    // The signal about the row, of which later reads publish new versions.
    signal_id: 'uuid?',
    first_seen_at: 'time',
    last_seen_at: 'time',
    // Missing in a read in which most rows were missing.
    is_doubted: 'bool',
    gone_at: 'time?',
  }, { unique: [['source_key', 'row_key']], references: { source_key: 'ingest_sources.key' } });

  await schema.createTable('ingest_reads', {
    key: 'id',
    source_key: 'bigint',
    fetch_id: 'uuid?',
    at: 'time',
    outcome: 'text',
    detail: 'text?',
    rows: 'int',
    added: 'int',
    changed: 'int',
    gone: 'int',
    signals: 'int',
    milliseconds: 'int',
    content_hash: 'text?',
  }, { index: [['source_key', 'key'], ['at']], references: { source_key: 'ingest_sources.key' } });
}
