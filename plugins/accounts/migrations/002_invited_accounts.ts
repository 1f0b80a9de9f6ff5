import type { Schema } from 'civic';

/** Adds invitations for one account, named by its id or e-mail address, to those by link. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('accounts_invitations', { account_key: 'bigint?', email: 'text?', email_folded: 'text?' });
  await schema.addIndex('accounts_invitations', ['account_key']);
  await schema.addIndex('accounts_invitations', ['email_folded']);
}
