import type { Reader, Tx } from 'civic';
import type { KeyRange } from './ranges.ts';

/** `registered`: the app registered itself; `operator`: the operator created it. */
export type ClientKind = 'registered' | 'operator';

export interface ClientRow {
  key: number;
  id: string;
  kind: ClientKind;
  name: string | null;
  metadata: Record<string, unknown>;
  secret_hash: string | null;
  created_at: string;
  used_at: string | null;
}

const TABLE = 'oauth_clients';

export async function putClient(tx: Tx, client: Omit<ClientRow, 'key' | 'used_at'>): Promise<void> {
  const { metadata, ...rest } = client;
  await tx(TABLE).insert({ ...rest, metadata: JSON.stringify(metadata) }).onConflict('id').merge(['name', 'metadata', 'secret_hash']);
}

export async function clientById(reader: Reader, id: string): Promise<ClientRow | null> {
  return read(await reader(TABLE).where({ id }).first());
}

export async function existingClients(reader: Reader, ids: string[]): Promise<Set<string>> {
  const rows = (await reader(TABLE).whereIn('id', ids).select('id')) as { id: string }[];
  return new Set(rows.map(({ id }) => id));
}

export async function clientsOf(reader: Reader, kind: ClientKind): Promise<ClientRow[]> {
  const rows = (await reader(TABLE).where({ kind }).orderBy('key')) as unknown[];
  return rows.map((row) => read(row)!);
}

/** Returns the kinds of stored clients, by id. Clients of metadata documents are not stored. */
export async function clientKinds(reader: Reader, ids: string[]): Promise<Map<string, ClientKind>> {
  const rows = (await reader(TABLE).whereIn('id', ids).select('id', 'kind')) as { id: string; kind: ClientKind }[];
  return new Map(rows.map(({ id, kind }) => [id, kind]));
}

/** Counts the apps that registered themselves after a time and until another, and returns when the first of them did. */
export async function countRegistered(reader: Reader, since: string, until: string): Promise<{ total: number; first: string | null }> {
  const row = await reader(TABLE).where({ kind: 'registered' }).where('created_at', '>', since).where('created_at', '<=', until)
    .count({ total: '*' }).min({ first: 'created_at' }).first() as { total: number | string; first: string | null };
  return { total: Number(row.total), first: row.first };
}

export async function deleteClient(tx: Tx, id: string): Promise<boolean> {
  return await tx(TABLE).where({ id }).delete() === 1;
}

export async function markClientUsed(tx: Tx, id: string, now: string): Promise<void> {
  await tx(TABLE).where({ id }).update({ used_at: now });
}

/** Deletes registered clients in a range without a connection: those registered before `unusedBefore` and never used, and those last used before `idleBefore`. */
export async function deleteIdleClients(tx: Tx, { after, last }: KeyRange, { unusedBefore, idleBefore }: { unusedBefore: string; idleBefore: string }): Promise<void> {
  await tx(TABLE).where('key', '>', after).where('key', '<=', last).where({ kind: 'registered' })
    .where((row) => row.where((unused) => unused.whereNull('used_at').where('created_at', '<', unusedBefore)).orWhere('used_at', '<', idleBefore))
    .whereNotExists(tx('oauth_grants').where('client_id', tx.ref(`${TABLE}.id`)).select('key')).delete();
}

function read(row: unknown): ClientRow | null {
  const stored = row as (Omit<ClientRow, 'metadata'> & { metadata: string }) | undefined;
  return stored ? { ...stored, metadata: JSON.parse(stored.metadata) as ClientRow['metadata'] } : null;
}
