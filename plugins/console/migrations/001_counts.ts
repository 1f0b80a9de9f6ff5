import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('console_counts', { hour: 'time', name: 'text', count: 'bigint' }, { primary: ['hour', 'name'] });
}
