import type { Schema } from 'civic';

/** The value that the reporter proposes, and the address of its source. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('flags_flags', { proposed_value: 'text?', proposed_source: 'text?' });
}
