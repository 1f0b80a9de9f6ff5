import type { Schema } from 'civic';

/** Recent authentication, security notices, and e-mail addresses that are not confirmed yet. */
export async function up(schema: Schema): Promise<void> {
  // When the account last proved in this session who it is; null in earlier sessions, which need a new proof.
  await schema.addColumns('accounts_sessions', { confirmed_at: 'time?' });

  await schema.createTable('accounts_notices', {
    key: 'id',
    id: 'uuid',
    account_key: 'bigint',
    kind: 'text',
    detail: 'json',
    address: 'text?',
    at: 'time',
  }, { unique: [['id']], index: [['account_key', 'key'], ['at']], references: { account_key: 'accounts_people.key' } });

  await schema.createTable('accounts_email_changes', {
    account_key: 'bigint',
    email: 'text',
    email_folded: 'text',
    // Null until the link is mailed: the secret exists only in the mail.
    secret_hash: 'text?',
    created_at: 'time',
    expires_at: 'time',
  }, { primary: ['account_key'], unique: [['secret_hash']], index: [['expires_at']], references: { account_key: 'accounts_people.key' } });
}
