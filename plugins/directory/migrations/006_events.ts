import type { Schema } from 'civic';

/** Calendars look for events by their start, which most actors do not have. */
export async function up(schema: Schema): Promise<void> {
  const sql = 'create index directory_actors_starts_at on directory_actors (starts_at, key) where starts_at is not null';
  await schema.raw({ sqlite: sql, postgres: sql });
}
