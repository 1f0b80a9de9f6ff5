import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Null when the platform and the address decide.
  await schema.addColumns('ingest_sources', { source_class: 'text?' });
}
