import type { Reader, Tx } from 'civic';

export interface LinkRow {
  secret_hash: string;
  /** Null in a link for the first administrator, whose account is made when it is used. */
  account_key: number | null;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

export async function insertLink(tx: Tx, link: LinkRow): Promise<void> {
  await tx('accounts_links').insert(link);
}

/** A link that can still be used. */
export async function openLink(reader: Reader, secretHash: string, now: string): Promise<LinkRow | null> {
  return ((await reader('accounts_links').where({ secret_hash: secretHash, used_at: null }).where('expires_at', '>', now).first()) as LinkRow | undefined) ?? null;
}

/** Uses a link up; null when it cannot be used. */
export async function takeLink(tx: Tx, secretHash: string, now: string): Promise<LinkRow | null> {
  const [row] = (await tx('accounts_links').where({ secret_hash: secretHash, used_at: null }).where('expires_at', '>', now).update({ used_at: now }).returning('*')) as LinkRow[];
  return row ?? null;
}

/** Uses up all that an account has. */
export async function endLinks(tx: Tx, accountKey: number, now: string): Promise<void> {
  await tx('accounts_links').where({ account_key: accountKey, used_at: null }).update({ used_at: now });
}

/** Of several nodes that start at once each prints a link for the first administrator. Using one uses all up, so that there is one first. */
export async function takeFirstLinks(tx: Tx, now: string): Promise<string[]> {
  const rows = (await tx('accounts_links').whereNull('account_key').whereNull('used_at').where('expires_at', '>', now).update({ used_at: now }).returning('secret_hash')) as LinkRow[];
  return rows.map((row) => row.secret_hash);
}

export async function pruneLinks(tx: Tx, before: string): Promise<void> {
  await tx('accounts_links').where('expires_at', '<', before).delete();
}
