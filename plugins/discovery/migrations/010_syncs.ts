import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // What a local tool states about its run; null for other runs.
  await schema.addColumns('discovery_runs', { sync: 'json?' });
  // How many entries syncs stored in the month.
  await schema.addColumns('discovery_months', { synced: 'int?' });

  // The parts that were stored completely, with their receipts.
  await schema.createTable('discovery_sync_parts', {
    run_key: 'bigint',
    part: 'int',
    // SHA-256 of the body.
    hash: 'text',
    receipt: 'json',
    synced_at: 'time',
  }, { primary: ['run_key', 'part'], references: { run_key: 'discovery_runs.key' } });
}
