import type { Schema } from 'civic';

/** Places are found by their OCD id. */
export async function up(schema: Schema): Promise<void> {
  await schema.addIndex('directory_places', ['ocd_id']);
}
