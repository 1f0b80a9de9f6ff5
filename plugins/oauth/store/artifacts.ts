import type { Reader, Tx } from 'civic';

/** A code, token or pending authorization of the library oidc-provider, which calls its kind `model`. */
export interface Artifact {
  key: number;
  model: string;
  id_hash: string;
  payload: Record<string, unknown>;
  grant_id: string | null;
  user_code_hash: string | null;
  created_at: string;
  expires_at: string | null;
  consumed_at: string | null;
  /** How often a consumed artifact was used; 0 for a refresh token that newer ones replaced before it was used, null when that is not known. */
  uses: number | null;
}

const TABLE = 'oauth_artifacts';

export async function putArtifact(tx: Tx, artifact: Omit<Artifact, 'key' | 'consumed_at' | 'uses'>): Promise<void> {
  const { payload, ...rest } = artifact;
  const row = { ...rest, payload: JSON.stringify(payload) };
  await tx(TABLE).insert(row).onConflict(['model', 'id_hash']).merge(['payload', 'grant_id', 'expires_at']);
}

export async function artifact(reader: Reader, model: string, idHash: string): Promise<Artifact | null> {
  return read(await reader(TABLE).where({ model, id_hash: idHash }).first());
}

export async function artifactByUserCode(reader: Reader, userCodeHash: string): Promise<Artifact | null> {
  return read(await reader(TABLE).where({ user_code_hash: userCodeHash }).first());
}

/** Returns false when it did not exist. */
export async function deleteArtifact(tx: Tx, model: string, idHash: string): Promise<boolean> {
  return await tx(TABLE).where({ model, id_hash: idHash }).delete() === 1;
}

export async function deleteArtifactsOf(tx: Tx, grantId: string): Promise<void> {
  await tx(TABLE).where({ grant_id: grantId }).delete();
}

/** Further uses of a refresh token that was consumed after `from`, up to a total of `most`. One consumed after `until` was consumed while a clock was ahead. */
export interface Grace {
  from: string;
  until: string;
  most: number;
}

/**
 * Marks an artifact as consumed. Returns whether this call is the first use, a repeated use within the grace period, or must be refused.
 * The conditions are part of the updates, so that concurrent requests cannot use an artifact more often.
 */
export async function consumeArtifact(tx: Tx, model: string, idHash: string, now: string, grace: Grace | null): Promise<'first' | 'repeated' | 'refused'> {
  const row = { model, id_hash: idHash };
  if (await tx(TABLE).where(row).whereNull('consumed_at').update({ consumed_at: now, uses: 1 }) === 1) return 'first';
  if (grace === null) return 'refused';
  const uses = tx.raw('coalesce(uses, 1)');
  const repeated = await tx(TABLE).where(row).where('consumed_at', '>', grace.from).where('consumed_at', '<=', grace.until).where(uses, '>', 0).where(uses, '<', grace.most)
    .update({ uses: tx.raw('coalesce(uses, 1) + 1') });
  return repeated === 1 ? 'repeated' : 'refused';
}

/** Invalidates the unused refresh tokens of a grant, except the newest `kept`. */
export async function replaceOldestTokens(tx: Tx, grantId: string, kept: number, now: string): Promise<void> {
  const unused = () => tx(TABLE).where({ model: 'RefreshToken', grant_id: grantId, consumed_at: null });
  const newest = (await unused().orderBy('key', 'desc').limit(kept).select('key')) as { key: number }[];
  if (newest.length === kept) await unused().where('key', '<', newest.at(-1)!.key).update({ consumed_at: now, uses: 0 });
}

/** Deletes the consumed refresh tokens of a grant, except the newest `kept` that were used and as many that were replaced. */
export async function deleteConsumedTokens(tx: Tx, grantId: string, kept: number): Promise<void> {
  for (const comparison of ['>', '=']) {
    const consumed = () => tx(TABLE).where({ model: 'RefreshToken', grant_id: grantId }).where('uses', comparison, 0);
    const newest = (await consumed().orderBy('key', 'desc').limit(kept).select('key')) as { key: number }[];
    if (newest.length === kept) await consumed().where('key', '<', newest.at(-1)!.key).delete();
  }
}

/** Stores the decision about an authorization request. Returns false when another request decided before. */
export async function storeDecision(tx: Tx, key: number, payload: Record<string, unknown>, now: string): Promise<boolean> {
  return await tx(TABLE).where({ key }).whereNull('consumed_at').update({ payload: JSON.stringify(payload), consumed_at: now }) === 1;
}

/** Stores the decision about a device and deletes its user code. Returns false when another request decided before. */
export async function storeDeviceDecision(tx: Tx, key: number, payload: Record<string, unknown>, grantId: string | null): Promise<boolean> {
  const decision = { payload: JSON.stringify(payload), grant_id: grantId, user_code_hash: null };
  return await tx(TABLE).where({ key }).whereNotNull('user_code_hash').update(decision) === 1;
}

export async function deleteExpiredArtifacts(tx: Tx, now: string, limit: number): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).where('expires_at', '<=', now).select('key').limit(limit)).delete();
}

/** Returns registration access tokens after a key, with the client of each. */
export async function registrationTokens(reader: Reader, after: number, limit: number): Promise<{ key: number; client_id: string }[]> {
  const rows = (await reader(TABLE).where({ model: 'RegistrationAccessToken' }).where('key', '>', after).orderBy('key').limit(limit).select('key', 'payload')) as { key: number; payload: string }[];
  return rows.map(({ key, payload }) => ({ key, client_id: String((JSON.parse(payload) as { clientId?: string }).clientId) }));
}

export async function deleteArtifactsByKey(tx: Tx, keys: number[]): Promise<void> {
  await tx(TABLE).whereIn('key', keys).delete();
}

function read(row: unknown): Artifact | null {
  const stored = row as (Omit<Artifact, 'payload'> & { payload: string }) | undefined;
  return stored ? { ...stored, payload: JSON.parse(stored.payload) as Artifact['payload'] } : null;
}
