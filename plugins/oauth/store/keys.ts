import type { Reader, Tx } from 'civic';

/** The newest key of an algorithm signs ID tokens; older ones verify tokens that are still valid. */
export interface KeyRow {
  kid: string;
  /** Null in keys from before this was stored, which are for ES256. */
  alg: string | null;
  /** The private key, encrypted. */
  sealed: string;
  created_at: string;
}

/** Returns all keys, the newest first. */
export async function signingKeys(reader: Reader): Promise<KeyRow[]> {
  return reader('oauth_keys').orderBy('key', 'desc').select('kid', 'alg', 'sealed', 'created_at');
}

/** Makes other transactions that add keys wait for this one. */
export async function lockKeys(tx: Tx): Promise<void> {
  await tx('oauth_keys').forUpdate().select('kid');
}

export async function insertKey(tx: Tx, key: KeyRow): Promise<void> {
  await tx('oauth_keys').insert(key);
}

export async function deleteKeys(tx: Tx, kids: string[]): Promise<void> {
  await tx('oauth_keys').whereIn('kid', kids).delete();
}
