import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Whether the last read left rows out, because there were too many.
  await schema.addColumns('ingest_sources', { has_left_out: 'bool?' });
}
