import { bulkInsert, dialectOf, type Reader, type Tx } from 'civic';
import type { Row } from '../adapters/types.ts';
import type { Via } from '../sources/store.ts';

const ROWS = 'ingest_rows';
const READS = 'ingest_reads';
const AT_ONCE = 500;
const DAY_MS = 24 * 3600_000;

export interface StoredRow {
  key: number;
  row_key: string;
  hash: string;
  data: string;
  signal_id: string | null;
  cancelled_id: string | null;
  votes: string | null;
  content_hash: string | null;
  content_at: string | null;
  passage: string | null;
  /** Within a day: a read that finds the row as it is updates it once a day. */
  last_seen_at: string;
  is_doubted: 0 | 1;
  gone_at: string | null;
  /** The address that listed it, when the source has another one now. */
  former_url: string | null;
}

const COLUMNS = ['key', 'row_key', 'hash', 'data', 'signal_id', 'cancelled_id', 'votes', 'content_hash', 'content_at', 'passage', 'last_seen_at', 'is_doubted', 'gone_at', 'former_url'] as const;

export interface ReadRow {
  key: number;
  source_key: number;
  fetch_id: string | null;
  at: string;
  outcome: 'read' | 'unchanged' | 'put_off' | 'refused' | 'failed';
  detail: string | null;
  rows: number;
  added: number;
  changed: number;
  gone: number;
  signals: number;
  milliseconds: number;
  content_hash: string | null;
  via: Via | null;
}

export async function rowsOf(reader: Reader, sourceKey: number): Promise<StoredRow[]> {
  return reader(ROWS).where({ source_key: sourceKey, gone_at: null }).select(COLUMNS);
}

/** Returns the rows of a source that were gone and have one of these keys, or begin at one of these times. */
export async function goneRowsOf(reader: Reader, sourceKey: number, { keys, starts }: { keys: string[]; starts: string[] }): Promise<StoredRow[]> {
  const start = dialectOf(reader) === 'postgres' ? "data::json ->> 'start'" : "json_extract(data, '$.start')";
  const gone = () => reader(ROWS).where({ source_key: sourceKey }).whereNotNull('gone_at').select(COLUMNS);
  const rows: StoredRow[] = [];
  for (const some of chunksOf(keys)) rows.push(...await gone().whereIn('row_key', some));
  for (const some of chunksOf([...new Set(starts)])) rows.push(...await gone().whereRaw(`${start} in (${some.map(() => '?').join(', ')})`, some));
  return [...new Map(rows.map((row) => [row.key, row])).values()];
}

/** Returns rows of a source, those that appeared last first, and those of one read in the order of the page. */
export async function newestRows(reader: Reader, sourceKey: number, limit: number): Promise<Row[]> {
  const rows: { data: string }[] = await reader(ROWS).where({ source_key: sourceKey, gone_at: null }).orderBy([{ column: 'first_seen_at', order: 'desc' }, 'key']).limit(limit).select('data');
  return rows.map(({ data }) => JSON.parse(data) as Row);
}

export interface RowVersion {
  row: Row;
  hash: string;
  signal_id: string | null;
  cancelled_id: string | null;
  votes: string | null;
  content_hash: string | null;
  passage: string | null;
}

/** Stores rows that are new. */
export async function insertRows(tx: Tx, sourceKey: number, versions: RowVersion[], at: string): Promise<void> {
  const rows = versions.map(({ row, ...version }) => ({
    source_key: sourceKey, row_key: row.key, ...version, content_at: at, data: JSON.stringify(row), first_seen_at: at, last_seen_at: at, is_doubted: false, gone_at: null, former_url: null,
  }));
  await bulkInsert(tx, ROWS, rows);
}

/** Stores a new version of a row, also of one that was gone and is listed again. */
export async function updateRow(tx: Tx, key: number, { row, ...version }: RowVersion, at: string): Promise<void> {
  await tx(ROWS).where({ key }).update({ row_key: row.key, ...version, content_at: at, data: JSON.stringify(row), last_seen_at: at, is_doubted: false, gone_at: null, former_url: null });
}

/** Gives rows other keys, because other rows have theirs now. They are still found by their start. */
export async function freeKeys(tx: Tx, keys: number[]): Promise<void> {
  for (const some of chunksOf(keys)) await tx(ROWS).whereIn('key', some).update({ row_key: tx.raw("'gone/' || key") });
}

/** Notes that rows are of a former address of their source. They are neither listed nor gone until a read of the next one has them. */
export async function setAsideRows(tx: Tx, sourceKey: number, url: string, at: string): Promise<void> {
  await tx(ROWS).where({ source_key: sourceKey, former_url: null }).update({ former_url: url });
  await tx(ROWS).where({ source_key: sourceKey, gone_at: null }).update({ gone_at: at, is_doubted: false });
}

/** Ends a row that vanished. It stays stored, so that the same signals continue when it is listed again. */
export async function endRow(tx: Tx, sourceKey: number, rowKey: string, cancelled_id: string | null, at: string): Promise<void> {
  await tx(ROWS).where({ source_key: sourceKey, row_key: rowKey }).update({ gone_at: at, cancelled_id });
}

/** Notes that a read had these rows, unless that is noted for the last day. */
export async function seeRows(tx: Tx, sourceKey: number, rows: StoredRow[], at: string): Promise<void> {
  const dayBefore = new Date(Date.parse(at) - DAY_MS).toISOString();
  const due = rows.filter(({ last_seen_at }) => last_seen_at <= dayBefore).map(({ row_key }) => row_key);
  for (const some of chunksOf(due)) await tx(ROWS).where({ source_key: sourceKey }).whereIn('row_key', some).update({ last_seen_at: at });
}

export async function deleteRows(tx: Tx, keys: number[]): Promise<void> {
  for (const some of chunksOf(keys)) await tx(ROWS).whereIn('key', some).delete();
}

/** Deletes rows that vanished before a time. */
export async function deleteGoneRows(tx: Tx, sourceKey: number, before: string): Promise<void> {
  await tx(ROWS).where({ source_key: sourceKey }).where('gone_at', '<', before).delete();
}

/** Notes which rows are doubted to be gone: these and no others. */
export async function setDoubted(tx: Tx, sourceKey: number, rowKeys: string[]): Promise<void> {
  await tx(ROWS).where({ source_key: sourceKey, is_doubted: true }).update({ is_doubted: false });
  for (const some of chunksOf(rowKeys)) await tx(ROWS).where({ source_key: sourceKey }).whereIn('row_key', some).update({ is_doubted: true });
}

function chunksOf<Key>(keys: Key[]): Key[][] {
  return Array.from({ length: Math.ceil(keys.length / AT_ONCE) }, (_, index) => keys.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
}

export async function insertRead(tx: Tx, read: Omit<ReadRow, 'key'>): Promise<void> {
  await tx(READS).insert(read);
}

export async function readsPage(reader: Reader, sourceKey: number, { before, limit }: { before: number | null; limit: number }): Promise<{ rows: ReadRow[]; total: number }> {
  const page = reader(READS).where({ source_key: sourceKey }).orderBy('key', 'desc').limit(limit);
  if (before !== null) page.where('key', '<', before);
  const [count] = await reader(READS).where({ source_key: sourceKey }).count('* as total');
  return { rows: await page.select('*'), total: Number(count!.total) };
}

/** Deletes up to 500 records of reads. Returns how many. */
export async function pruneReads(tx: Tx, before: string): Promise<number> {
  return tx(READS).whereIn('key', tx(READS).where('at', '<', before).limit(500).select('key')).delete();
}
