import type { Schema } from 'civic';

/** A relay checks whether a signal was first published here. */
export async function up(schema: Schema): Promise<void> {
  await schema.addIndex('firehose_log', ['signal_id']);
}
