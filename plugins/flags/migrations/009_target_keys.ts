import type { Schema } from 'civic';

/** Lists the latest flags of a target without sorting all of them. */
export async function up(schema: Schema): Promise<void> {
  await schema.addIndex('flags_flags', ['target_type', 'target_id', 'key']);
}
