import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('digest_entries', { seq: 'bigint', text: 'text' }, { primary: ['seq'] });
}
