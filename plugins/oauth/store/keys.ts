import type { Reader, Tx } from 'civic';

/** The newest key signs ID tokens; older ones verify tokens that are still valid. */
export interface KeyRow {
  kid: string;
  /** The private key, encrypted. */
  sealed: string;
  created_at: string;
}

/** Returns all keys, the newest first. */
export async function signingKeys(reader: Reader): Promise<KeyRow[]> {
  return reader('oauth_keys').orderBy('key', 'desc').select('kid', 'sealed', 'created_at');
}

export async function insertKey(tx: Tx, key: KeyRow): Promise<void> {
  await tx('oauth_keys').insert(key);
}

export async function deleteKeys(tx: Tx, kids: string[]): Promise<void> {
  await tx('oauth_keys').whereIn('kid', kids).delete();
}
