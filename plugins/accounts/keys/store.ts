import type { Reader, Tx } from 'civic';
import type { InstanceRole } from '../types.ts';

export interface KeyRow {
  key: number;
  id: string;
  account_key: number;
  workspace_key: number;
  name: string;
  secret_hash: string;
  scopes: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** A key with what its owner is, in one row. */
export interface KeyHolderRow extends KeyRow {
  account_id: string;
  role: InstanceRole;
  plan: string;
  plan_until: string | null;
  disabled_at: string | null;
}

export interface ListedKeyRow extends Omit<KeyRow, 'secret_hash'> {
  account_id: string;
  account_name: string;
  email: string | null;
  workspace_id: string;
}

export async function insertKey(tx: Tx, key: Omit<KeyRow, 'key'>): Promise<void> {
  await tx('accounts_keys').insert(key);
}

export async function keyHolder(reader: Reader, id: string): Promise<KeyHolderRow | null> {
  const row = await reader('accounts_keys').join('accounts_people', 'accounts_people.key', 'accounts_keys.account_key').where('accounts_keys.id', id)
    .first('accounts_keys.*', 'accounts_people.id as account_id', 'accounts_people.role', 'accounts_people.plan', 'accounts_people.plan_until', 'accounts_people.disabled_at');
  return (row as KeyHolderRow | undefined) ?? null;
}

/** The keys of an account, or all; the latest last. */
export async function listedKeys(reader: Reader, accountKey: number | null): Promise<ListedKeyRow[]> {
  const query = reader('accounts_keys').join('accounts_people', 'accounts_people.key', 'accounts_keys.account_key').join('accounts_workspaces', 'accounts_workspaces.key', 'accounts_keys.workspace_key')
    .select('accounts_keys.key', 'accounts_keys.id', 'accounts_keys.account_key', 'accounts_keys.workspace_key', 'accounts_keys.name', 'accounts_keys.scopes', 'accounts_keys.created_at',
      'accounts_keys.expires_at', 'accounts_keys.revoked_at', 'accounts_keys.last_used_at', 'accounts_people.id as account_id', 'accounts_people.name as account_name', 'accounts_people.email', 'accounts_workspaces.id as workspace_id')
    .orderBy('accounts_keys.key');
  return accountKey === null ? query : query.where('accounts_keys.account_key', accountKey);
}

/** How many keys of an account can still be used. */
export async function countUsableKeys(reader: Reader, accountKey: number, now: string): Promise<number> {
  const row = await reader('accounts_keys').where({ account_key: accountKey, revoked_at: null })
    .where((either) => either.whereNull('expires_at').orWhere('expires_at', '>', now)).count({ total: '*' }).first() as { total: number | string };
  return Number(row.total);
}

/** Returns the keys of a workspace that are not revoked. */
export async function usableKeysOf(reader: Reader, workspaceKey: number): Promise<{ key: number; id: string; account_id: string }[]> {
  return reader('accounts_keys').join('accounts_people', 'accounts_people.key', 'accounts_keys.account_key').where({ workspace_key: workspaceKey, revoked_at: null })
    .select('accounts_keys.key', 'accounts_keys.id', 'accounts_people.id as account_id').orderBy('accounts_keys.key');
}

export async function markRevoked(tx: Tx, key: number, at: string): Promise<void> {
  await tx('accounts_keys').where({ key }).update({ revoked_at: at });
}

export async function markUsed(tx: Tx, keys: number[], at: string): Promise<void> {
  await tx('accounts_keys').whereIn('key', keys).update({ last_used_at: at });
}
