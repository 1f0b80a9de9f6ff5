import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // The parts of runs that an instance has stored: a sync that was interrupted goes on after them.
  await schema.createTable('scout_syncs', {
    key: 'id',
    run_id: 'uuid',
    instance: 'text',
    part: 'int',
    parts: 'int',
    // SHA-256 of the part.
    hash: 'text',
    receipt: 'json',
    synced_at: 'time',
  }, { unique: [['run_id', 'instance', 'part']] });
}
