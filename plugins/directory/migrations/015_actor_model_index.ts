import type { Schema } from 'civic';

/** Finds rows that another version of the read model derived. */
export async function up(schema: Schema): Promise<void> {
  await schema.addIndex('directory_actors', ['model']);
}
