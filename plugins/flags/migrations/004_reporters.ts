import type { Schema } from 'civic';

/** The e-mail addresses of reporters, apart from the flags because they are deleted before them, and what was written about a flag. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('flags_reporters', {
    flag_key: 'bigint',
    email: 'text',
    // Of the report, for mails.
    language: 'text',
    created_at: 'time',
  }, { primary: ['flag_key'], references: { flag_key: 'flags_flags.key' } });
  // The mails of the last day, to limit those to one address.
  await schema.createTable('flags_mails', { key: 'id', address_hash: 'text', at: 'time' }, { index: [['address_hash', 'at'], ['at']] });
  await schema.createTable('flags_messages', {
    key: 'id',
    id: 'uuid',
    flag_key: 'bigint',
    // question, reply or reopening
    kind: 'text',
    text: 'text',
    suspicion: 'text?',
    // Of the reviewer who asked.
    account_id: 'uuid?',
    at: 'time',
  }, { unique: [['id']], index: [['flag_key']], references: { flag_key: 'flags_flags.key' } });
}
