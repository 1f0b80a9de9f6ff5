import type { Schema } from 'civic';

/** The flags of each target by status, suspicion and type, so that a new flag or a decision counts no rows; with an empty suspicion for none. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('flags_sums', {
    target_type: 'text', target_id: 'text', status: 'text', suspicion: 'text', flag_type: 'text', flags: 'bigint', first_at: 'time', latest_at: 'time',
    // The latest flag.
    last_key: 'bigint',
  }, { primary: ['target_type', 'target_id', 'status', 'suspicion', 'flag_type'], derived: true });
}
