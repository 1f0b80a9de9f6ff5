import type { Reader, Tx } from 'civic';

/** A key that signs ID tokens, or did so lately. */
export interface KeyRow {
  kid: string;
  sealed: string;
  created_at: string;
}

/** All keys, the newest first. */
export async function signingKeys(reader: Reader): Promise<KeyRow[]> {
  return reader('oauth_keys').orderBy('key', 'desc').select('kid', 'sealed', 'created_at');
}

export async function insertKey(tx: Tx, key: KeyRow): Promise<void> {
  await tx('oauth_keys').insert(key);
}

export async function deleteKeys(tx: Tx, kids: string[]): Promise<void> {
  await tx('oauth_keys').whereIn('kid', kids).delete();
}
