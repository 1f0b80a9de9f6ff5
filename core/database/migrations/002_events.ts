import type { Schema } from '../types.ts';

export async function up(schema: Schema): Promise<void> {
  await schema.createSequenceTables('core_event', { name: 'text', version: 'int', at: 'time', payload: 'json' });
  await schema.createTable('core_event_positions', {
    plugin: 'text',
    seq: 'bigint',
    attempts: 'int',
    failed_seq: 'bigint?',
    error: 'text?',
    retry_at: 'time?',
    stopped_at: 'time?',
    off_at: 'time?',
    must_rebuild: 'bool',
  }, { primary: ['plugin'] });
}
