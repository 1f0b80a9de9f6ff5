import type { Reader, Tx } from 'civic';

export interface LinkRow {
  secret_hash: string;
  account_key: number;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

export async function insertLink(tx: Tx, link: LinkRow): Promise<void> {
  await tx('accounts_links').insert(link);
}

export async function linkByHash(reader: Reader, secretHash: string): Promise<LinkRow | null> {
  return ((await reader('accounts_links').where({ secret_hash: secretHash }).first()) as LinkRow | undefined) ?? null;
}
