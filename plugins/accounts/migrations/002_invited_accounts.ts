import type { Schema } from 'civic';

/** An invitation may be for one account, named by its id or its e-mail address, instead of for whoever has the link. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('accounts_invitations', { account_key: 'bigint?', email: 'text?', email_folded: 'text?' });
  await schema.addIndex('accounts_invitations', ['account_key']);
  await schema.addIndex('accounts_invitations', ['email_folded']);
}
