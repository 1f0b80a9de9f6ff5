import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Not unique: whether each event is delivered once is what tests look at here.
  await schema.createTable('digest_entries', { key: 'id', seq: 'bigint', text: 'text' }, { index: [['seq']] });
}
