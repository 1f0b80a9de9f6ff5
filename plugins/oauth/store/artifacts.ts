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
}

const TABLE = 'oauth_artifacts';

export async function putArtifact(tx: Tx, artifact: Omit<Artifact, 'key' | 'consumed_at'>): Promise<void> {
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

export async function deleteArtifact(tx: Tx, model: string, idHash: string): Promise<void> {
  await tx(TABLE).where({ model, id_hash: idHash }).delete();
}

export async function deleteArtifactsOf(tx: Tx, grantId: string): Promise<void> {
  await tx(TABLE).where({ grant_id: grantId }).delete();
}

/**
 * Marks an artifact as consumed. Returns whether this call may use it: it was not consumed before, or, with a grace period, it was
 * consumed after `graceFrom`. The condition is part of the update, so that only one of two concurrent requests uses a code.
 */
export async function consumeArtifact(tx: Tx, model: string, idHash: string, now: string, graceFrom: string | null): Promise<boolean> {
  const first = await tx(TABLE).where({ model, id_hash: idHash }).whereNull('consumed_at').update({ consumed_at: now });
  if (first === 1 || graceFrom === null) return first === 1;
  return (await tx(TABLE).where({ model, id_hash: idHash }).where('consumed_at', '>', graceFrom).first('key')) !== undefined;
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
