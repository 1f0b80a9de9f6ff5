import { dialectOf, putSearchTokens, searchMatch, type Reader, type Tx } from 'civic';

const TABLE = 'reader_indexed';
const SEARCH = 'reader_search';
const AT_ONCE = 200;

export interface IndexedRow {
  key: number;
  owner: string;
  url: string;
  content_hash: string;
  title: string | null;
  read_at: string;
  indexed_at: string | null;
}

export async function indexedPage(reader: Reader, owner: string, url: string): Promise<IndexedRow | undefined> {
  return reader(TABLE).where({ owner, url }).first('*');
}

/** Inserts or replaces the record of a page. Returns its key. */
export async function saveIndexed(tx: Tx, row: Omit<IndexedRow, 'key'>): Promise<number> {
  const [stored] = await tx(TABLE).insert(row).onConflict(['owner', 'url']).merge().returning('key');
  return Number(stored.key);
}

export async function putWords(tx: Tx, key: number, words: string[]): Promise<void> {
  await putSearchTokens(tx, SEARCH, key, words);
}

export async function updateIndexed(tx: Tx, key: number, changes: Partial<Omit<IndexedRow, 'key'>>): Promise<void> {
  await tx(TABLE).where({ key }).update(changes);
}

/** Returns pages whose words are not in the index yet. */
export async function waitingPages(reader: Reader, limit: number): Promise<IndexedRow[]> {
  return reader(TABLE).whereNull('indexed_at').orderBy('key').limit(limit).select('*');
}

/** Returns the latest pages of some owners that have all words of a query. */
export async function pagesWith(reader: Reader, owners: string[], query: string, limit: number): Promise<IndexedRow[]> {
  const pages = reader(TABLE).whereIn('owner', owners).orderBy([{ column: 'read_at', order: 'desc' }, { column: 'url' }]).limit(limit);
  searchMatch(reader, pages, 'key', SEARCH, { all: [query] });
  return pages.select('*');
}

/** Marks all pages as waiting and empties the index. */
export async function emptyIndex(tx: Tx): Promise<void> {
  await tx(SEARCH).delete();
  await tx(TABLE).update({ indexed_at: null });
}

/** Deletes pages whose content the archive no longer has. Returns how many. */
export async function pruneUnarchived(tx: Tx): Promise<number> {
  const archived = tx('reader_contents').whereRaw('reader_contents.hash = reader_indexed.content_hash');
  return deletePages(tx, await tx(TABLE).whereNotExists(archived).limit(AT_ONCE).pluck('key'));
}

/** Deletes the pages above a number that were read longest ago. Returns how many. */
export async function pruneAbove(tx: Tx, most: number): Promise<number> {
  const [count] = await tx(TABLE).count('* as total');
  const surplus = Number(count!.total) - most;
  return surplus <= 0 ? 0 : deletePages(tx, await tx(TABLE).orderBy(['read_at', 'key']).limit(Math.min(AT_ONCE, surplus)).pluck('key'));
}

/** Deletes the pages of an owner. Returns how many. */
export async function deleteOwner(tx: Tx, owner: string): Promise<number> {
  return deletePages(tx, await tx(TABLE).where({ owner }).limit(AT_ONCE).pluck('key'));
}

async function deletePages(tx: Tx, keys: number[]): Promise<number> {
  if (keys.length === 0) return 0;
  await tx(SEARCH).whereIn(dialectOf(tx) === 'sqlite' ? 'rowid' : 'key', keys).delete();
  return tx(TABLE).whereIn('key', keys).delete();
}
