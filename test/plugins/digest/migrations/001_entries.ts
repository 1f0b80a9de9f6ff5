import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('digest_entries', { key: 'id', seq: 'bigint', text: 'text' }, { unique: [['seq']] });
}
