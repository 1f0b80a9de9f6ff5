import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('discovery_pages', {
    key: 'id',
    run_key: 'bigint',
    url: 'text',
    host: 'text',
    state: 'text',
    // Lower is read first.
    rank: 'int',
    // How often the reader put it off.
    attempts: 'int',
    reason: 'text?',
    detail: 'text?',
    title: 'text?',
    content_hash: 'text?',
    retrieved_at: 'time?',
    found: 'int',
  }, { unique: [['run_key', 'url']], index: [['run_key', 'state', 'rank', 'key'], ['run_key', 'host']], references: { run_key: 'discovery_runs.key' } });

  // How many runs each workspace started in a month: writers wait for each other here, so that none exceeds its plan.
  await schema.createTable('discovery_months', { workspace_id: 'uuid', month: 'text', runs: 'int' }, { primary: ['workspace_id', 'month'] });
}
