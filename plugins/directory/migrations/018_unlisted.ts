import type { Schema } from 'civic';

/** People who asked not to be listed: keyed hashes of their names and contacts, and nothing that names them. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_unlisted', {
    key: 'id',
    id: 'uuid',
    // The place that the name is known in; null when the entry has contacts only.
    place_key: 'text?',
    // What the operator finds the request by, such as the number of a letter.
    reference: 'text?',
    // Which secret key made the hashes.
    key_id: 'text',
    account_id: 'uuid?',
    created_at: 'time',
  }, { unique: [['id']] });
  await schema.createTable('directory_unlisted_hashes', { hash: 'text', kind: 'text', entry_key: 'bigint' }, { primary: ['hash', 'entry_key'], index: [['entry_key']] });
}
