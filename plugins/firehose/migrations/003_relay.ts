import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // One line for each instance that was ever followed: how far its log was read, and which node reads it now.
  await schema.createTable('firehose_relay', {
    url: 'text',
    event_id: 'text',
    // Lines of its log that are not read yet, as far as it told.
    behind: 'bigint',
    heard: 'bigint?',
    fault: 'text?',
    fix: 'text?',
    holder: 'text?',
    lease_until: 'bigint?',
  }, { primary: ['url'] });
}
