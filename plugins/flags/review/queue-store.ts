import { bulkInsert, dialectOf, type Reader, type Tx } from 'civic';
import type { Target, TargetType } from '../types.ts';
import type { State } from './queue.ts';

export interface QueueRow {
  /** Empty in the row for all places. */
  place_key: string;
  state: State;
  rank: number;
  target_type: TargetType;
  target_id: string;
  severity: number;
  types: number;
  reports: number;
  first_at: string;
  lead_key: number;
}

export interface QueueFilter {
  state: State;
  place: string | null;
  target: TargetType | null;
  /** As bits. */
  types: number | null;
  severity: number | null;
  /** The oldest report is from before this time. */
  before: string | null;
}

export interface QueuePosition {
  rank: number;
  target_id: string;
}

const TABLE = 'flags_queue';
const TOTALS = 'flags_queue_totals';

/** Makes other transactions that change flags of the target wait until this one ends; SQLite has one writer anyway. */
export async function lockTarget(tx: Tx, { type, id }: Target): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`flags ${type} ${id}`]);
}

/**
 * Makes other transactions that change rows of the table wait until this one ends, after those under way have ended. Their changes that are not committed
 * yet are not in what this transaction reads, and are added to what it writes. SQLite has one writer anyway.
 */
export async function lockTable(tx: Tx, table: string): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw('lock table ?? in share row exclusive mode', [table]);
}

export async function placesOfFlags(reader: Reader, flagKeys: number[]): Promise<Map<number, string[]>> {
  const rows: { place_key: string; flag_key: number }[] = await reader('flags_places').whereIn('flag_key', flagKeys).select('place_key', 'flag_key');
  const places = new Map<number, string[]>();
  for (const { place_key, flag_key } of rows) places.set(Number(flag_key), [...places.get(Number(flag_key)) ?? [], place_key]);
  return places;
}

export async function replaceQueueRows(tx: Tx, type: TargetType, ids: string[], rows: QueueRow[]): Promise<void> {
  const before: Counted[] = await tx(TABLE).where({ target_type: type }).whereIn('target_id', ids).select('place_key', 'state', 'severity', 'reports');
  await tx(TABLE).where({ target_type: type }).whereIn('target_id', ids).del();
  await bulkInsert(tx, TABLE, rows);
  await bulkInsert(tx, TOTALS, totalsBetween(type, before, rows), { onConflict: { columns: ['place_key', 'state', 'target_type', 'severity'], merge: [], add: ['targets', 'reports'] } });
}

type Counted = Pick<QueueRow, 'place_key' | 'state' | 'severity' | 'reports'>;

/** Returns what changes in the totals, in the order of their keys, so that two transactions never wait for each other. */
function totalsBetween(target_type: TargetType, before: Counted[], after: Counted[]) {
  const totals = new Map<string, Pick<QueueRow, 'place_key' | 'state' | 'target_type' | 'severity'> & { targets: number; reports: number }>();
  const add = (rows: Counted[], sign: number) => {
    for (const { place_key, state, severity, reports } of rows) {
      const key = `${place_key} ${state} ${severity}`;
      const total = totals.get(key) ?? totals.set(key, { place_key, state, target_type, severity, targets: 0, reports: 0 }).get(key)!;
      total.targets += sign;
      total.reports += sign * reports;
    }
  };
  add(before, -1);
  add(after, 1);
  return [...totals.entries()].filter(([, { targets, reports }]) => targets !== 0 || reports !== 0).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
}

export async function clearQueue(tx: Tx): Promise<void> {
  for (const table of [TABLE, TOTALS]) {
    await lockTable(tx, table);
    await tx(table).del();
  }
}

/** Counts the rows of the queue again. */
export async function rebuildTotals(tx: Tx): Promise<void> {
  const group = 'place_key, state, target_type, severity';
  await lockTable(tx, TOTALS);
  await tx(TOTALS).del();
  await tx.raw(`insert into flags_queue_totals (${group}, targets, reports) select ${group}, count(*), sum(reports) from flags_queue group by ${group}`);
}

export async function countTargets(reader: Reader): Promise<number> {
  const row = await reader.from(reader('flags_flags').distinct('target_type', 'target_id').as('targets')).count({ count: '*' }).first() as { count: number | string };
  return Number(row.count);
}

export async function targetsAfter(reader: Reader, after: Target | null, limit: number): Promise<Target[]> {
  const rows = reader('flags_flags').distinct({ type: 'target_type', id: 'target_id' }).orderBy(['target_type', 'target_id']).limit(limit);
  if (after) rows.whereRaw('(target_type, target_id) > (?, ?)', [after.type, after.id]);
  return rows;
}

function matching(reader: Reader, { state, place, target, types, severity, before }: QueueFilter) {
  const query = reader(TABLE).where({ place_key: place ?? '', state });
  if (target !== null) query.where({ target_type: target });
  if (types !== null) query.whereRaw('types & ? <> 0', [types]);
  if (severity !== null) query.where({ severity });
  if (before !== null) query.where('first_at', '<', before);
  return query;
}

/** Returns a page of targets, the most severe first. */
export async function queuePage(reader: Reader, filter: QueueFilter, { after, limit }: { after: QueuePosition | null; limit: number }): Promise<QueueRow[]> {
  const rows = matching(reader, filter).orderBy([{ column: 'rank' }, { column: 'target_id' }]).limit(limit).select('*');
  if (after) rows.whereRaw('(rank, target_id) > (?, ?)', [after.rank, after.target_id]);
  return rows;
}

/** Returns how many targets match, and how many reports they have in that state. */
export async function queueTotals(reader: Reader, filter: QueueFilter): Promise<{ targets: number; reports: number }> {
  const isStored = filter.types === null && filter.before === null;
  const query = isStored ? reader(TOTALS).where({ place_key: filter.place ?? '', state: filter.state }).sum({ targets: 'targets' }) : matching(reader, filter).count({ targets: '*' });
  if (isStored && filter.target !== null) query.where({ target_type: filter.target });
  if (isStored && filter.severity !== null) query.where({ severity: filter.severity });
  const row = (await query.sum({ reports: 'reports' }).first()) as Record<'targets' | 'reports', number | string | null>;
  return { targets: shownCount(row.targets), reports: shownCount(row.reports) };
}

/** Returns how many reports there are in each state; of a place when one is given. */
export async function stateCounts(reader: Reader, place: string | null): Promise<Partial<Record<State, number>>> {
  const rows: { state: State; reports: number | string }[] = await reader(TOTALS).where({ place_key: place ?? '' }).groupBy('state').select('state').sum({ reports: 'reports' });
  return Object.fromEntries(rows.map(({ state, reports }) => [state, shownCount(reports)]));
}

/** Converts a stored count. One that a node of an older version made negative is shown as 0 until the job has repaired it. */
export function shownCount(stored: number | string | null): number {
  return Math.max(0, Number(stored ?? 0));
}
