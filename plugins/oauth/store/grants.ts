import type { Reader, Tx } from 'civic';
import type { KeyRange } from './ranges.ts';

/** A connection of an app with an account in one workspace. */
export interface GrantRow {
  key: number;
  id: string;
  account_id: string;
  workspace_id: string;
  client_id: string;
  client_name: string;
  /** The host name of the app; null for an app on the user's own device. */
  client_host: string | null;
  /** Null in connections from before this was stored. */
  client_place: ClientPlace | null;
  /** The identifier of the resource, as the client wrote it. */
  resource: string;
  scopes: string[];
  /** When the membership began in which the user approved; null in connections from before this was stored. */
  member_since: string | null;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

/** Where an app runs: at a host, as a program or an app on the user's own device, or on a device that showed a code. */
export type ClientPlace = 'website' | 'program' | 'app' | 'device';

const TABLE = 'oauth_grants';

export async function insertGrant(tx: Tx, grant: Omit<GrantRow, 'key' | 'used_at'>): Promise<void> {
  await tx(TABLE).insert({ ...grant, scopes: JSON.stringify(grant.scopes) });
}

export async function grantById(reader: Reader, id: string): Promise<GrantRow | null> {
  return read(await reader(TABLE).where({ id }).first());
}

/** At most `limit` connections after the one with the id `after`; from the first on when there is none. */
export interface GrantPage {
  after: string | null;
  limit: number;
}

/** Returns connections of an account, the newest first. */
export async function grantsOf(reader: Reader, accountId: string, { after, limit }: GrantPage): Promise<GrantRow[]> {
  const own = reader(TABLE).where({ account_id: accountId });
  const last = after === null ? null : await grantById(reader, after);
  const rows = (await (last ? own.where('key', '<', last.key) : own).orderBy('key', 'desc').limit(limit)) as unknown[];
  return rows.map((row) => read(row)!);
}

export async function grantsOfClient(reader: Reader, clientId: string): Promise<GrantRow[]> {
  const rows = (await reader(TABLE).where({ client_id: clientId })) as unknown[];
  return rows.map((row) => read(row)!);
}

export async function hasGrants(reader: Reader, clientId: string): Promise<boolean> {
  return await reader(TABLE).where({ client_id: clientId }).first('key') !== undefined;
}

/** Deletes a connection. Returns false when it did not exist. */
export async function deleteGrant(tx: Tx, id: string): Promise<boolean> {
  return await tx(TABLE).where({ id }).delete() === 1;
}

export async function markGrantsUsed(tx: Tx, ids: string[], now: string): Promise<void> {
  await tx(TABLE).whereIn('id', ids).update({ used_at: now });
}

/** Returns the connections in a range that expired, and those approved before `approvedBefore` that have no valid code or token. */
export async function endedGrants(reader: Reader, { after, last }: KeyRange, { now, approvedBefore }: { now: string; approvedBefore: string }): Promise<GrantRow[]> {
  const usable = reader('oauth_artifacts').where('grant_id', reader.ref(`${TABLE}.id`)).whereNot({ model: 'Grant' }).where('expires_at', '>', now).select('key');
  const rows = (await reader(TABLE).where('key', '>', after).where('key', '<=', last)
    .where((row) => row.where('expires_at', '<=', now).orWhere((unusable) => unusable.where('created_at', '<', approvedBefore).whereNotExists(usable)))) as unknown[];
  return rows.map((row) => read(row)!);
}

/** An access token with its connection. */
export interface TokenRow {
  payload: { scope?: string; aud?: string };
  expires_at: string;
  grant: GrantRow;
}

export async function tokenByHash(reader: Reader, hash: string): Promise<TokenRow | null> {
  const row = await reader('oauth_artifacts').join(TABLE, `${TABLE}.id`, 'oauth_artifacts.grant_id')
    .where({ model: 'AccessToken', id_hash: hash })
    .first(`${TABLE}.*`, 'oauth_artifacts.payload as token_payload', 'oauth_artifacts.expires_at as token_expires_at');
  if (!row) return null;
  const { token_payload: payload, token_expires_at: expires_at, ...grant } = row as { token_payload: string; token_expires_at: string };
  return { payload: JSON.parse(payload) as TokenRow['payload'], expires_at, grant: read(grant)! };
}

function read(row: unknown): GrantRow | null {
  const stored = row as (Omit<GrantRow, 'scopes'> & { scopes: string }) | undefined;
  return stored ? { ...stored, scopes: JSON.parse(stored.scopes) as string[] } : null;
}
