import { isId, type Reader, type Tx } from 'civic';
import type { FlagEvent } from './events.ts';
import type { State } from './review/queue.ts';
import { knownType, type CreatedFlag, type FlagType, type Status, type Target, type TargetType } from './types.ts';

export interface FlagRow {
  key: number;
  id: string;
  receipt: string;
  target_type: TargetType;
  target_id: string;
  claim_id: string | null;
  /** As it is stored; `knownType` returns what is shown. */
  flag_type: string;
  reason: string;
  reason_hash: string;
  account_id: string | null;
  open_key: string | null;
  status: Status;
  suspicion: string | null;
  note: string | null;
  decided_by: string | null;
  decided_at: string | null;
  signal_id: string | null;
  proposed_value: string | null;
  proposed_source: string | null;
  created_at: string;
  updated_at: string;
}

export interface FlagQuery {
  status?: Status[];
  target_type?: TargetType[];
  flag_type?: FlagType[];
  place?: string;
}

/**
 * Inserts a flag. Returns the existing flag instead when the account has the same one open. The SQL statement waits for a concurrent
 * decision on that flag, and inserts the new flag after it.
 */
export async function insertFlag(tx: Tx, row: Omit<FlagRow, 'key'>, placeKeys: string[]): Promise<FlagRow> {
  const [stored]: FlagRow[] = await tx('flags_flags').insert(row).onConflict('open_key').merge(['open_key']).returning('*');
  if (stored!.id === row.id && placeKeys.length > 0) await tx('flags_places').insert(placeKeys.map((place_key) => ({ place_key, flag_key: stored!.key })));
  return stored!;
}

export async function flagById(reader: Reader, id: string): Promise<FlagRow | undefined> {
  return reader('flags_flags').where({ id }).first();
}

export async function flagByReceipt(reader: Reader, receipt: string): Promise<FlagRow | undefined> {
  return reader('flags_flags').where({ receipt }).first();
}

/** Locks flags, by id or key, until the transaction ends, so that two decisions do not overlap; SQLite has one writer anyway. In the order of the list. */
export async function flagsToDecide(tx: Tx, named: (string | number)[]): Promise<FlagRow[]> {
  const keys = named.filter((one) => typeof one === 'number');
  const ids = named.filter((one): one is string => typeof one === 'string' && isId(one)).map((id) => id.toLowerCase());
  const rows: FlagRow[] = await tx('flags_flags').where((either) => either.whereIn('id', ids).orWhereIn('key', keys)).orderBy('key').forUpdate();
  const place = ({ id, key }: FlagRow) => (ids.length > 0 ? ids.indexOf(id) : keys.indexOf(Number(key)));
  return rows.sort((a, b) => place(a) - place(b));
}

export async function isOpenKeyTaken(reader: Reader, open_key: string): Promise<boolean> {
  return await reader('flags_flags').where({ open_key }).first('key') !== undefined;
}

export async function updateFlag(tx: Tx, key: number, values: Partial<FlagRow>): Promise<FlagRow> {
  const [row] = await tx('flags_flags').where({ key }).update(values).returning('*');
  return row as FlagRow;
}

/** As many as `max_repeats` can be. */
const MOST_COMPARED = 1000;

/** Returns on how many other targets the same text was reported since a time, among the latest flags with that text. */
export async function targetsWithReason(reader: Reader, reason_hash: string, since: string, except: Target): Promise<number> {
  const latest = reader('flags_flags').where({ reason_hash }).where('created_at', '>=', since).orderBy('created_at', 'desc').limit(MOST_COMPARED).select('target_id');
  const row = await reader.from(latest.as('latest')).whereNot({ target_id: except.id }).countDistinct({ count: 'target_id' }).first() as { count: number | string };
  return Number(row.count);
}

/** Adds the conditions of a query, except that on places, to a statement on a table with these columns. */
export function whereMatching(statement: ReturnType<Reader>, { status, target_type, flag_type }: FlagQuery): ReturnType<Reader> {
  for (const [column, values] of Object.entries({ status, target_type, flag_type })) if (values) statement.whereIn(column, values);
  return statement;
}

/** Flags with keys between two others. */
export interface FlagsPage {
  before: number | null;
  after: number | null;
  limit: number;
}

/** Returns a page of flags, the latest first. */
export async function flagsPage(reader: Reader, query: FlagQuery, page: FlagsPage): Promise<FlagRow[]> {
  const rows = reader('flags_flags').orderBy('key', 'desc').limit(page.limit);
  if (query.place !== undefined) return rows.whereIn('key', keysOfPlace(reader, query.place, query, page));
  return whereMatching(whereBetween(rows, 'key', page), query);
}

function whereBetween(rows: ReturnType<Reader>, column: string, { before, after }: FlagsPage): ReturnType<Reader> {
  if (before !== null) rows.where(column, '<', before);
  if (after !== null) rows.where(column, '>', after);
  return rows;
}

export async function lastKey(reader: Reader): Promise<number> {
  return Number((await reader('flags_flags').orderBy('key', 'desc').first('key'))?.key ?? 0);
}

/** Returns the keys of a page of flags of a place, which its index has in this order. */
function keysOfPlace(reader: Reader, place_key: string, query: FlagQuery, page: FlagsPage) {
  const keys = reader('flags_places').join('flags_flags', 'key', 'flag_key').where({ place_key }).orderBy('flag_key', 'desc').limit(page.limit).select('flag_key');
  return whereMatching(whereBetween(keys, 'flag_key', page), query);
}

export async function flagsByKey(reader: Reader, keys: number[]): Promise<FlagRow[]> {
  return reader('flags_flags').whereIn('key', keys);
}

/** Returns flags of a target, the latest first. */
export async function flagsOfTarget(reader: Reader, { type, id }: Target, limit: number): Promise<FlagRow[]> {
  return reader('flags_flags').where({ target_type: type, target_id: id }).orderBy('key', 'desc').limit(limit);
}

/** The order of an index that begins with the target and the status, so that no rows are sorted. */
const BY_TYPE = ['suspicion', 'flag_type', 'created_at', 'key'];

/** Returns the flags of a target that wait for the same decision, by type, and the oldest of each type first. */
export async function flagsInState(reader: Reader, { type, id }: Target, { state, flagType }: { state: State; flagType: FlagType | null }, limit: number): Promise<FlagRow[]> {
  const rows = reader('flags_flags').where({ target_type: type, target_id: id, status: state === 'suspected' ? 'open' : state }).orderBy(BY_TYPE).limit(limit);
  if (state === 'suspected') rows.whereNotNull('suspicion');
  if (state === 'open') rows.whereNull('suspicion');
  if (flagType !== null) rows.where({ flag_type: flagType });
  return rows;
}

export function createdFlag({ id, target_type, target_id, claim_id, flag_type, reason, status, created_at, receipt }: FlagRow): CreatedFlag {
  return { id, target_type, target_id, claim_id, flag_type: knownType(flag_type), reason, status, created_at, receipt };
}

export function eventOf({ id, target_type, target_id, flag_type, status, suspicion }: FlagRow): FlagEvent {
  return { id, target_type, target_id, flag_type: knownType(flag_type), status, is_suspected: suspicion !== null };
}
