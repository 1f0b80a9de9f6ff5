import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('ingest_rows', {
    // The content that the row as it is stored was read from, when, and its passage there: evidence of what vanished.
    content_hash: 'text?',
    content_at: 'time?',
    passage: 'text?',
    // The signal that states that the meeting is cancelled, which is corrected when it takes place after all.
    cancelled_id: 'uuid?',
  });
}
