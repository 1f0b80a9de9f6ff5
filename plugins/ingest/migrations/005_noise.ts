import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('ingest_sources', {
    // What the last read that found changes found, for the console.
    last_changes: 'json?',
    // One bit for each of the last ten reads, the latest lowest: whether it found changes.
    change_bits: 'int?',
    // When the owner last got a mail about the failing source.
    reminded_at: 'time?',
  });
}
