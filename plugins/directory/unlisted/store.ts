import { bulkInsert, dialectOf, keysetAfter, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { Trait } from './traits.ts';

const ENTRIES = 'directory_unlisted';
const HASHES = 'directory_unlisted_hashes';

export interface EntryRow {
  key: number;
  id: string;
  place_key: string | null;
  reference: string | null;
  key_id: string;
  account_id: string | null;
  created_at: string;
}

export interface HashRow {
  hash: string;
  kind: Trait['kind'];
  entry_key: number;
}

export async function isEmpty(reader: Reader): Promise<boolean> {
  return (await reader(ENTRIES).limit(1).select('key')).length === 0;
}

export async function insertEntry(tx: Tx, { hashes, ...row }: Omit<EntryRow, 'key'> & { hashes: Omit<HashRow, 'entry_key'>[] }): Promise<void> {
  const [{ key }] = await tx(ENTRIES).insert(row).returning('key') as [{ key: number }];
  await bulkInsert(tx, HASHES, hashes.map((hash) => ({ ...hash, entry_key: Number(key) })));
}

export async function deleteEntry(tx: Tx, key: number): Promise<void> {
  await tx(HASHES).where({ entry_key: key }).delete();
  await tx(ENTRIES).where({ key }).delete();
}

/** Returns the ids of entries by the hashes that they share with these. */
export async function entriesWith(reader: Reader, hashes: string[]): Promise<{ hash: string; id: string }[]> {
  const rows: { hash: string; id: string }[] = [];
  const isSqlite = dialectOf(reader) === 'sqlite';
  for (const some of chunksOf([...new Set(hashes)])) {
    const query = reader(HASHES).join(ENTRIES, `${ENTRIES}.key`, `${HASHES}.entry_key`).orderBy(`${ENTRIES}.key`).select(`${HASHES}.hash`, `${ENTRIES}.id`);
    rows.push(...await (isSqlite ? query.whereRaw('hash in (select value from json_each(?))', [JSON.stringify(some)]) : query.whereRaw('hash = any(?)', [some as never])));
  }
  return rows;
}

export async function entryById(reader: Reader, id: string): Promise<EntryRow | undefined> {
  return reader(ENTRIES).where({ id }).first('*');
}

export async function hashesOf(reader: Reader, entryKeys: number[]): Promise<HashRow[]> {
  return reader(HASHES).whereIn('entry_key', entryKeys).orderBy(['entry_key', 'kind']).select('*');
}

/** Returns entries, the latest first; one more than `limit` when there are more. */
export async function latestEntries(reader: Reader, limit: number, after: number | null): Promise<EntryRow[]> {
  const query = reader(ENTRIES).limit(limit + 1).select('*');
  keysetAfter(query, [{ column: 'key', direction: 'desc' }], after === null ? null : [after]);
  return query;
}

export async function countEntries(reader: Reader, keyId?: string): Promise<number> {
  const query = reader(ENTRIES).count({ count: '*' });
  const row = await (keyId === undefined ? query : query.whereNot({ key_id: keyId })).first();
  return Number(row?.count ?? 0);
}

/** Returns the keys of public people whose sort name begins with one of these words. */
export async function peopleNamed(reader: Reader, words: string[], limit: number): Promise<number[]> {
  const keys = new Set<number>();
  for (const word of words) {
    const found: number[] = await reader('directory_actors').where('name_sort', '>=', word).where('name_sort', '<', `${word}\u{10ffff}`)
      .where({ type: 'person', visibility: 'public' }).orderBy('name_sort').limit(limit).pluck('key');
    for (const key of found) keys.add(Number(key));
  }
  return [...keys];
}
