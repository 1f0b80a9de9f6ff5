import type { Schema } from 'civic';

/** How many flags there are, so that lists of the API count no rows; with an empty place for all places. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('flags_counts', { place_key: 'text', status: 'text', flag_type: 'text', target_type: 'text', flags: 'bigint' }, {
    primary: ['place_key', 'status', 'flag_type', 'target_type'],
    derived: true,
  });
}
