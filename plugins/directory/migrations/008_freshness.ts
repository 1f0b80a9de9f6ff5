import type { Schema } from 'civic';

/** Who is no longer fresh, or became stale, between two days. */
export async function up(schema: Schema): Promise<void> {
  await schema.addIndex('directory_actors', ['fresh_until']);
  await schema.addIndex('directory_actors', ['aging_until']);
}
