import { bulkInsert, dialectOf, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { FlagCounts } from '../types.ts';
import { shareChanges } from './holds-store.ts';
import type { ChangeRow, ClaimRow, FlagColumns, RecordRow, SourceRow } from './rows.ts';

/** Rows whose column holds one of these values, which travel as one parameter: a statement with a mark for each costs more to make than to run. */
async function among<Row>(reader: Reader, table: string, column: string, values: (string | number)[], { order = 'key', also = {} } = {}): Promise<Row[]> {
  const isSqlite = dialectOf(reader) === 'sqlite';
  const rows: Row[] = [];
  for (const some of chunksOf(values)) {
    const query = isSqlite
      ? reader(table).whereRaw('?? in (select value from json_each(?))', [column, JSON.stringify(some)])
      : reader(table).whereRaw('?? = any(?)', [column, some as never]);
    rows.push(...await query.where(also).orderBy(order) as Row[]);
  }
  return rows;
}

export const recordsById = (reader: Reader, ids: string[]) => among<RecordRow>(reader, 'directory_records', 'id', ids);
export const recordsByKey = (reader: Reader, keys: number[]) => among<RecordRow>(reader, 'directory_records', 'key', keys);
export const recordsOfActors = (reader: Reader, actorKeys: number[]) => among<RecordRow>(reader, 'directory_records', 'actor_key', actorKeys);
export const claimsOfRecords = (reader: Reader, recordKeys: number[]) => among<ClaimRow>(reader, 'directory_claims', 'record_key', recordKeys);
/** Sources of a workspace; the public ones for null. */
export const sourcesByUrl = (reader: Reader, urls: string[], workspaceId: string | null) => among<SourceRow>(reader, 'directory_sources', 'url', urls, { also: { workspace_id: workspaceId } });
export const sourcesById = (reader: Reader, ids: string[]) => among<SourceRow>(reader, 'directory_sources', 'id', ids);
export const sourcesByKey = (reader: Reader, keys: number[]) => among<SourceRow>(reader, 'directory_sources', 'key', keys);

/** Claims of all the records that are these actors. */
export async function claimsOfActors(reader: Reader, actorKeys: number[]): Promise<(ClaimRow & { actor_key: number })[]> {
  const list = dialectOf(reader) === 'sqlite' ? 'in (select value from json_each(?))' : '= any(?::bigint[])';
  const value = dialectOf(reader) === 'sqlite' ? JSON.stringify(actorKeys) : actorKeys;
  return reader.raw(`select directory_claims.*, directory_records.actor_key from directory_records join directory_claims on directory_claims.record_key = directory_records.key
    where directory_records.actor_key ${list} order by directory_claims.key`, [value as never]);
}

export async function recordKeysByOrigin(reader: Reader, origins: string[]): Promise<Map<string, number>> {
  const rows = await among<{ origin: string; record_key: number }>(reader, 'directory_origins', 'origin', origins, { order: 'origin' });
  return new Map(rows.map(({ origin, record_key }) => [origin, record_key]));
}

export async function originsOfRecords(reader: Reader, recordKeys: number[]): Promise<{ origin: string; record_key: number }[]> {
  return among(reader, 'directory_origins', 'record_key', recordKeys, { order: 'origin' });
}

export async function removeOrigins(tx: Tx, recordKeys: number[]): Promise<void> {
  for (const some of chunksOf(recordKeys)) await tx('directory_origins').whereIn('record_key', some).delete();
}

export async function originsUnder(reader: Reader, prefix: string, limit: number): Promise<{ origin: string; record_key: number }[]> {
  return reader('directory_origins').where('origin', '>=', prefix).where('origin', '<', `${prefix}\u{10ffff}`).orderBy('origin').limit(limit);
}

/** Keys of actors, deleted ones too, in their order. */
export async function actorKeysAfter(reader: Reader, after: number, limit: number): Promise<number[]> {
  const rows = await reader('directory_records').where('key', '>', after).where('key', reader.ref('actor_key')).orderBy('key').limit(limit).select('key');
  return rows.map(({ key }) => Number(key));
}

export const insertRecords = (tx: Tx, rows: RecordRow[]) => bulkInsert(tx, 'directory_records', rows);
export const insertClaims = (tx: Tx, rows: ClaimRow[]) => bulkInsert(tx, 'directory_claims', rows);

export async function insertChanges(tx: Tx, rows: (Omit<ChangeRow, 'key'> & { key?: number })[]): Promise<void> {
  await shareChanges(tx);
  await bulkInsert(tx, 'directory_changes', rows);
}

export const insertOrigins = (tx: Tx, rows: { origin: string; record_key: number }[]) => bulkInsert(tx, 'directory_origins', rows, { onConflict: 'ignore' });

/** Inserts sources. If another node inserts the same source at the same time, the first row stays. */
export const insertSources = (tx: Tx, rows: SourceRow[]) => bulkInsert(tx, 'directory_sources', rows, { onConflict: 'ignore' });

export const replaceSources = (tx: Tx, rows: SourceRow[]) => bulkInsert(tx, 'directory_sources', rows, {
  onConflict: { columns: ['key'], merge: ['title', 'publication', 'kind', 'published_at', 'retrieved_at', 'excerpt', 'content_hash'] },
});

export async function updateUrlStatus(tx: Tx, key: number, status: Partial<Pick<SourceRow, 'url_status' | 'last_checked_at' | 'content_hash' | 'archived'>>): Promise<void> {
  await tx('directory_sources').where({ key }).update(status);
}

/** Returns sources, private ones too, in the order of their keys. */
export async function sourcesAfter(reader: Reader, key: number, limit: number): Promise<SourceRow[]> {
  return reader('directory_sources').where('key', '>', key).orderBy('key').limit(limit).select('*');
}

export const replaceClaims = (tx: Tx, rows: ClaimRow[]) => bulkInsert(tx, 'directory_claims', rows, {
  onConflict: { columns: ['key'], merge: ['rank', 'confidence', 'excerpt', 'locator_start', 'locator_end', 'first_seen_at', 'last_seen_at', 'expires_at', 'status'] },
});

export async function updateRecords(tx: Tx, keys: number[], values: Partial<RecordRow>): Promise<void> {
  for (const some of chunksOf(keys)) await tx('directory_records').whereIn('key', some).update(values);
}

const flagColumns = ({ open, total, latest_at }: FlagCounts): FlagColumns => ({ flags_open: open, flags_total: total, flags_latest_at: latest_at });

export async function updateFlags(tx: Tx, table: 'directory_records' | 'directory_sources', key: number, counts: FlagCounts): Promise<void> {
  await tx(table).where({ key }).update(flagColumns(counts));
}

/** Returns the places of the public actors that cite these sources. */
export async function placesOfSources(reader: Reader, keys: number[]): Promise<number[]> {
  return reader('directory_place_sources').whereIn('source_key', keys).distinct().pluck('place');
}

/**
 * Lets nobody else change these actors until the transaction ends, and waits for who is at it. Taken in one order,
 * so that nobody waits in a circle; SQLite has one writer anyway.
 */
export async function lockActors(tx: Tx, actorKeys: number[]): Promise<void> {
  if (dialectOf(tx) === 'sqlite') return;
  const inOrder = [...new Set(actorKeys)].sort((one, other) => one - other);
  for (const some of chunksOf(inOrder)) await tx('directory_records').whereIn('key', some).orderBy('key').forUpdate().select('key');
}

/** Locks actors that are about to be changed. A hold that begins locks them after it has waited for changes, so each change is known before it locks actors. */
export async function lockToChange(tx: Tx, actorKeys: number[]): Promise<void> {
  await shareChanges(tx);
  await lockActors(tx, actorKeys);
}

/** Takes records and all they brought away for good, but not the sources, which others may use. */
export async function eraseRecords(tx: Tx, keys: number[]): Promise<void> {
  for (const some of chunksOf(keys)) {
    for (const table of ['directory_claims', 'directory_changes', 'directory_origins']) await tx(table).whereIn('record_key', some).delete();
    await tx('directory_judgements').whereIn('left_key', some).orWhereIn('right_key', some).delete();
    await tx('directory_records').whereIn('key', some).delete();
  }
}

/** Of these sources, those that no claim names any more. */
export async function eraseUnusedSources(tx: Tx, keys: number[]): Promise<void> {
  for (const some of chunksOf(keys)) {
    await tx('directory_sources').whereIn('key', some)
      .whereNotExists(tx('directory_claims').select(tx.raw('1')).where('directory_claims.source_key', tx.ref('directory_sources.key'))).delete();
  }
}

/** Makes private sources public, with their ids: those that only these records cite and whose URL has no public row yet. */
export async function promoteSources(tx: Tx, keys: number[], recordKeys: number[]): Promise<void> {
  for (const some of chunksOf(keys)) {
    const shared = tx('directory_claims').whereIn('source_key', some).whereNotIn('record_key', recordKeys).select('source_key');
    const urls = tx('directory_sources').whereIn('key', some).select('url');
    const known = tx('directory_sources').whereNull('workspace_id').whereIn('url', urls).select('url');
    await tx('directory_sources').whereIn('key', some).whereNotIn('key', shared).whereNotIn('url', known).update({ workspace_id: null });
  }
}

/** Makes claims of these records cite another source. */
export async function moveClaims(tx: Tx, recordKeys: number[], from: number, to: number): Promise<void> {
  for (const some of chunksOf(recordKeys)) await tx('directory_claims').whereIn('record_key', some).where({ source_key: from }).update({ source_key: to });
}

export async function changesOfRecords(reader: Reader, recordKeys: number[], page: { before: number | null; limit: number; without: number[] }): Promise<ChangeRow[]> {
  const query = reader('directory_changes').whereIn('record_key', recordKeys).whereNotIn('key', page.without).orderBy('key', 'desc').limit(page.limit);
  if (page.before !== null) query.where('key', '<', page.before);
  return query;
}

/** Changes that name other records. */
export async function mergesOfRecords(reader: Reader, recordKeys: number[]): Promise<Pick<ChangeRow, 'key' | 'detail'>[]> {
  return reader('directory_changes').whereIn('record_key', recordKeys).whereIn('action', ['merged', 'split']).select('key', 'detail');
}

export async function countChanges(reader: Reader, recordKeys: number[], without: number[]): Promise<number> {
  const row = await reader('directory_changes').whereIn('record_key', recordKeys).whereNotIn('key', without).count({ count: '*' }).first();
  return Number(row!.count);
}

/** The key of each record's last change. */
export async function lastChanges(reader: Reader, recordKeys: number[]): Promise<Map<number, number>> {
  const last = new Map<number, number>();
  for (const some of chunksOf(recordKeys)) {
    const rows: { record_key: number; last: number }[] = await reader('directory_changes').whereIn('record_key', some)
      .groupBy('record_key').select('record_key', reader.raw('max(key) as last'));
    for (const row of rows) last.set(row.record_key, row.last);
  }
  return last;
}

export async function sourceById(reader: Reader, id: string): Promise<SourceRow | undefined> {
  return reader('directory_sources').where({ id }).first('*');
}

/** Returns the ids of private actors of a workspace that are not deleted. */
export async function actorsOfWorkspace(reader: Reader, workspaceId: string, limit: number): Promise<string[]> {
  return reader('directory_records').where({ workspace_id: workspaceId, visibility: 'workspace', deleted_at: null }).whereRaw('actor_key = key').limit(limit).pluck('id') as unknown as Promise<string[]>;
}
