import { bulkInsert, dialectOf, keysetAfter, type Reader, type Tx } from 'civic';
import type { ClaimRow, SourceRow } from '../ledger/rows.ts';
import type { Property } from '../types.ts';

const TABLE = 'directory_rechecks';

export interface RecheckRow {
  source_key: number;
  impact: number;
  cited: number;
  due: number;
  /** The first record with a statement that is due. */
  from_record: number | null;
}

export type SourceToCheck = Pick<SourceRow, 'key' | 'retrieved_at' | 'last_checked_at'>;

/** Public sources in the order of their keys; those whose address is broken wait for another source, not for a check. */
export async function sourcesToCheck(reader: Reader, after: number, limit: number): Promise<SourceToCheck[]> {
  return reader('directory_sources').where('key', '>', after).whereNull('workspace_id').whereNot({ url_status: 'broken' }).orderBy('key').limit(limit).select('key', 'retrieved_at', 'last_checked_at');
}

export async function sourceToCheck(reader: Reader, key: number): Promise<SourceToCheck | undefined> {
  return reader('directory_sources').where({ key }).whereNull('workspace_id').whereNot({ url_status: 'broken' }).first('key', 'retrieved_at', 'last_checked_at');
}

/** Of each property, since when a statement is due. */
export type DueTimes = Record<Property, string>;

const SHOWN = `directory_claims.status in ('active', 'disputed') and directory_claims.rank <> 'deprecated' and directory_records.deleted_at is null and directory_actors.visibility = 'public'
  and (directory_actors.starts_at is null or directory_actors.starts_at > ?)`;
const JOINED = 'directory_claims join directory_records on directory_records.key = directory_claims.record_key join directory_actors on directory_actors.key = directory_records.actor_key';

/** A condition on claims that are past their half-life, with its bindings. Events that are over are never due. */
function isDue(reader: Reader, times: DueTimes, now: string): { sql: string; bindings: string[] } {
  const cases = Object.entries(times);
  // SQLite stores times as text; Postgres does not know the type of a parameter inside `case`.
  const time = dialectOf(reader) === 'postgres' ? '?::timestamptz' : '?';
  return {
    sql: `${SHOWN} and (directory_claims.expires_at is null or directory_claims.expires_at > ?) and directory_claims.last_seen_at < case directory_claims.property ${cases.map(([property]) => `when '${property}' then ${time}`).join(' ')} end`,
    bindings: [now, now, ...cases.map(([, since]) => since)],
  };
}

export interface DueRow {
  source_key: number;
  property: Property;
  statements: number;
  last_seen_at: string;
  from_record: number;
}

/** Counts the statements of sources that are due, by property, with the oldest. */
export async function dueBySource(reader: Reader, sourceKeys: number[], times: DueTimes, now: string): Promise<DueRow[]> {
  const { sql, bindings } = isDue(reader, times, now);
  const rows: DueRow[] = await reader.raw(`select directory_claims.source_key, directory_claims.property, count(*) as statements, min(directory_claims.last_seen_at) as last_seen_at, min(directory_claims.record_key) as from_record
    from ${JOINED} where directory_claims.source_key in (${sourceKeys.map(() => '?').join(', ')}) and ${sql} group by directory_claims.source_key, directory_claims.property`, [...sourceKeys, ...bindings]);
  return rows.map((row) => ({ ...row, source_key: Number(row.source_key), statements: Number(row.statements), from_record: Number(row.from_record) }));
}

/** Counts the records that cite sources, by source key. */
export async function citationsOf(reader: Reader, sourceKeys: number[]): Promise<Map<number, number>> {
  const rows: { source_key: number; cited: number }[] = await reader('directory_claims').whereIn('source_key', sourceKeys).groupBy('source_key').select('source_key').countDistinct({ cited: 'record_key' }) as never;
  return new Map(rows.map(({ source_key, cited }) => [Number(source_key), Number(cited)]));
}

/** Of a source that a million records cite, no more claims are read. */
const MOST_READ = 500;

/** Returns the first due claims of a source, in the order of records. */
export async function dueClaims(reader: Reader, { source_key, from_record }: Pick<RecheckRow, 'source_key' | 'from_record'>, times: DueTimes, now: string, limit: number): Promise<(ClaimRow & { actor_key: number })[]> {
  const { sql, bindings } = isDue(reader, times, now);
  if (from_record === null) return [];
  const first = '(select * from directory_claims where source_key = ? and record_key >= ? order by record_key limit ?) as directory_claims';
  return reader.raw(`select directory_claims.*, directory_records.actor_key from ${JOINED.replace('directory_claims', first)} where ${sql} order by directory_claims.record_key, directory_claims.key limit ?`, [source_key, from_record, MOST_READ, ...bindings, limit]);
}

/** Replaces the whole queue. */
export async function replaceQueue(tx: Tx, rows: RecheckRow[]): Promise<void> {
  await tx(TABLE).delete();
  await bulkInsert(tx, TABLE, rows);
}

/** Replaces the row of one source; null removes it. */
export async function replaceRow(tx: Tx, sourceKey: number, row: RecheckRow | null): Promise<void> {
  await tx(TABLE).where({ source_key: sourceKey }).delete();
  if (row) await tx(TABLE).insert(row);
}

/** Returns rows of the queue, the highest impact first; one more than `limit` when there are more. */
export async function queuePage(reader: Reader, limit: number, after: (string | number)[] | null): Promise<RecheckRow[]> {
  const query = reader(TABLE).limit(limit + 1).select('*');
  keysetAfter(query, [{ column: 'impact', direction: 'desc' }, { column: 'source_key', direction: 'desc' }], after);
  return query;
}

export async function queuedRow(reader: Reader, sourceKey: number): Promise<RecheckRow | undefined> {
  return reader(TABLE).where({ source_key: sourceKey }).first('*');
}

export async function countQueue(reader: Reader): Promise<number> {
  const row = await reader(TABLE).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}
