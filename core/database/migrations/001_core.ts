import type { Schema } from '../types.ts';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('core_meta', { key: 'text', value: 'json' }, { primary: ['key'] });
}
