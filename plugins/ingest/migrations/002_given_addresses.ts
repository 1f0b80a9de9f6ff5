import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // What was given, when a better address was found there: lists that are imported again name it.
  await schema.addColumns('ingest_sources', { given_url: 'text?' });
  await schema.addIndex('ingest_sources', ['workspace_id', 'url']);
  await schema.addIndex('ingest_sources', ['workspace_id', 'given_url']);
}
