import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // The votes of the row as they were published last, by agenda item or action: a correction is a new version of their signals.
  await schema.addColumns('ingest_rows', { votes: 'json?' });
}
