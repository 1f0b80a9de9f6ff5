import type { Schema } from 'civic';

/** A ticket that was made with a token ends with the token. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('firehose_tickets', { ends_at: 'time?' });
}
