import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Which signals the reads of a source published, for its feed.
  await schema.createTable('ingest_signals', { key: 'id', source_key: 'bigint', signal_id: 'uuid', at: 'time' }, { unique: [['source_key', 'signal_id']], index: [['source_key', 'key'], ['at']], references: { source_key: 'ingest_sources.key' } });
}
