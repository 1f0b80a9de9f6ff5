import type { Schema } from 'civic';

/** What the reporter says is right, and where that can be read. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('flags_flags', { proposed_value: 'text?', proposed_source: 'text?' });
}
