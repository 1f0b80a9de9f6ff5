import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // What a local tool sent last, and when it was stored: a person who edits or decides about the candidate changes neither.
  await schema.addColumns('discovery_candidates', { sent_hash: 'text?', sent_at: 'time?' });
}
