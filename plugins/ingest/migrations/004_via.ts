import type { Schema } from 'civic';

/** How sources are read: by HTTP alone, or with a browser. Null before the first read after the update. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('ingest_sources', { via: 'text?' });
  await schema.addColumns('ingest_reads', { via: 'text?' });
}
