import type { Reader, Tx } from 'civic';

/** A requested e-mail address that is not confirmed yet. */
export interface EmailChangeRow {
  account_key: number;
  email: string;
  email_folded: string;
  secret_hash: string | null;
  created_at: string;
  expires_at: string;
}

/** Replaces the change that was pending before. */
export async function putEmailChange(tx: Tx, change: EmailChangeRow): Promise<void> {
  await tx('accounts_email_changes').insert(change).onConflict('account_key').merge();
}

export async function emailChangeOf(reader: Reader, accountKey: number, now: string): Promise<EmailChangeRow | null> {
  return ((await reader('accounts_email_changes').where({ account_key: accountKey }).where('expires_at', '>', now).first()) as EmailChangeRow | undefined) ?? null;
}

export async function emailChangeByHash(reader: Reader, secretHash: string, now: string): Promise<EmailChangeRow | null> {
  return ((await reader('accounts_email_changes').where({ secret_hash: secretHash }).where('expires_at', '>', now).first()) as EmailChangeRow | undefined) ?? null;
}

/** Sets the secret of a change that is still pending for this address. */
export async function setEmailSecret(tx: Tx, { account_key, email_folded }: EmailChangeRow, secretHash: string): Promise<boolean> {
  return await tx('accounts_email_changes').where({ account_key, email_folded }).update({ secret_hash: secretHash }) === 1;
}

/** Returns false when another request deleted the change first. */
export async function deleteEmailChange(tx: Tx, accountKey: number, emailFolded?: string): Promise<boolean> {
  return await tx('accounts_email_changes').where({ account_key: accountKey, ...(emailFolded !== undefined && { email_folded: emailFolded }) }).delete() === 1;
}

export async function pruneEmailChanges(tx: Tx, now: string): Promise<void> {
  await tx('accounts_email_changes').where('expires_at', '<', now).delete();
}
