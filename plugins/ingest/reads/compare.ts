import { createHash } from 'node:crypto';
import type { SignalChange } from 'civic/firehose';
import type { MeetingRow, Row } from '../adapters/types.ts';
import { changedFields } from './fields.ts';
import { isRenamed, type GoneRow } from './gone.ts';
import { withNewItemKeys } from './items.ts';
import { stableJson } from './stable.ts';

/** A row as the last read that had it found it. */
export interface KnownRow {
  hash: string;
  row: Row;
}

export type Change =
  | { type: 'added'; row: Row }
  | { type: 'changed'; before: Row; row: Row; fields: SignalChange[]; /** Its times are those of another zone: the meeting was not moved. */ isShifted?: boolean }
  /** It was gone, and is listed again. */
  | { type: 'returned'; before: Row; row: Row; fields: SignalChange[]; wasCancelled: boolean }
  | { type: 'gone'; row: Row };

export interface Comparison {
  changes: Change[];
  /** Upcoming meetings that are missing, but not believed to be gone until the next read confirms it. */
  doubted: Row[];
}

export interface CompareOptions {
  now: number;
  /** Whether the source lists every meeting between its first and its last, so that one that is missing there was cancelled. */
  isComplete: boolean;
  /** Whether its list has no last date: then a meeting after the last one that is listed counts as well. */
  hasNoEnd: boolean;
  /** The rows that were gone before this read, by the keys of those that continue them. */
  gone: ReadonlyMap<string, GoneRow>;
  /** Whether these rows were missing in the last read as well; then they are believed to be gone. */
  wasDoubted(row: Row): boolean;
  /** Whether the read left a row out that the source may list. */
  isLeftOut?(row: Row): boolean;
  /** Whether the time zone of the source changed since the rows were read. */
  isShifted?: boolean;
}

/** So many upcoming meetings may vanish at once without a doubt, or half of them. */
const FEW = 4;
/** So many announced meetings must still be listed for a missing one to be believed at once. */
const OTHERS = 2;

/** Returns a hash of what a row states: neither where it states it nor when it was published counts. */
export function hashOf(row: Row): string {
  return createHash('sha256').update(stableJson({ ...row, passage: undefined })).digest('hex');
}

/** Returns a row with what this read left out taken from the last one; null stays for what no read has had. */
export function completed(row: Row, known: Row | undefined): Row {
  if (row.kind === 'meeting') {
    const before = known && withNewItemKeys(known, row);
    const former = before?.kind === 'meeting' ? before.items : null;
    const votes = new Map(former?.map((item) => [item.key, item.votes]));
    return { ...row, items: row.items?.map((item) => ({ ...item, votes: item.votes ?? votes.get(item.key) ?? null })) ?? former };
  }
  if (row.kind !== 'filing') return row;
  const former = known?.kind === 'filing' ? known : null;
  return { ...row, sponsors: row.sponsors ?? former?.sponsors ?? null, actions: row.actions ?? former?.actions ?? null };
}

/** Compares the rows of a read, completed, with those that are known. Times of change that a platform reports do not count, because they are often wrong. */
export function compareRows(known: Map<string, KnownRow>, rows: Row[], options: CompareOptions): Comparison {
  if (options.isShifted) return shiftedRows(known, rows, options.gone);
  const read = new Map(rows.map((row) => [row.key, row]));
  const missing = options.isComplete && rows.length > 0 ? [...known.values()].map(({ row }) => row).filter((row) => !read.has(row.key) && isUpcoming(row, options.now) && !options.isLeftOut?.(row)) : [];
  const { moves, left } = pairMoves(missing, rows, (key) => known.has(key) || options.gone.has(key));
  const { gone, doubted } = judgeMissing(left, { known, rows, moved: moves.size }, options);
  return { changes: [...[...read.values()].flatMap((row) => changeOf(row, known.get(row.key), moves.get(row.key), options.gone.get(row.key))), ...gone.map((row): Change => ({ type: 'gone', row }))], doubted };
}

interface Listed {
  known: Map<string, KnownRow>;
  rows: Row[];
  /** How many known meetings are listed under another key. */
  moved: number;
}

/**
 * Decides which missing meetings are gone. Those outside the dates that are listed are unknown: a list of the next ten loses its last one when another is added. Without any known row the list is
 * another one, such as a notice. The others are gone when enough of what was announced is still there, else when the next read confirms it.
 */
function judgeMissing(missing: Row[], { known, rows, moved }: Listed, { now, hasNoEnd, wasDoubted }: CompareOptions): { gone: Row[]; doubted: Row[] } {
  const there = rows.filter(({ key }) => known.has(key)).map(({ key }) => known.get(key)!.row);
  if (there.length + moved === 0) return { gone: [], doubted: [] };
  const covers = coverage(rows, hasNoEnd);
  const upcoming = there.filter((row) => isUpcoming(row, now)).length + moved;
  const isMost = missing.length > FEW && missing.length > upcoming;
  const isGone = (row: Row) => (upcoming >= OTHERS && !isMost) || wasDoubted(row);
  const covered = missing.filter(covers);
  return { gone: covered.filter(isGone), doubted: covered.filter((row) => !isGone(row)) };
}

/** Returns whether a meeting lies within the dates of a list: not before its first, and before its last. */
function coverage(rows: Row[], hasNoEnd: boolean): (row: Row) => boolean {
  const times = rows.map(startOf).filter((time) => !Number.isNaN(time));
  const first = times.reduce((least, time) => Math.min(least, time), Infinity);
  const last = hasNoEnd ? Infinity : times.reduce((most, time) => Math.max(most, time), -Infinity);
  return (row) => startOf(row) >= first && startOf(row) < last;
}

function startOf(row: Row): number {
  return row.kind === 'meeting' ? Date.parse(row.start ?? '') : NaN;
}

function changeOf(row: Row, known: KnownRow | undefined, movedFrom: Row | undefined, gone: GoneRow | undefined): Change[] {
  if (!movedFrom && known?.hash === hashOf(row)) return [];
  const former = movedFrom ?? known?.row ?? gone?.row;
  if (!former) return [{ type: 'added', row }];
  const before = withNewItemKeys(former, row);
  // Other ids of agenda items are no change.
  if (former === known?.row && before !== former && hashOf(before) === hashOf(row)) return [];
  const fields = changedFields(before, row);
  return former === gone?.row && !gone.isMarked ? [{ type: 'returned', before, row, fields, wasCancelled: gone.wasCancelled }] : [{ type: 'changed', before, row, fields }];
}

/** Compares rows whose times are read in another zone. What is missing is left to the next read. */
function shiftedRows(known: Map<string, KnownRow>, rows: Row[], gone: CompareOptions['gone']): Comparison {
  const read = new Map(rows.map((row) => [row.key, row]));
  const vanished = [...known.values()].map(({ row }) => row).filter(({ key }) => !read.has(key));
  const moves = pairShifts(vanished, rows.filter(({ key }) => !known.has(key)));
  const changes = rows.flatMap((row) => changeOf(row, known.get(row.key), moves.get(row.key), gone.get(row.key)));
  return { changes: changes.map((change) => (change.type === 'changed' ? { ...change, fields: change.fields.filter(({ field }) => field !== 'start' && field !== 'end'), isShifted: true } : change)), doubted: [] };
}

/** Finds meetings whose key contains another day because of their zone: those of one title in their order. */
function pairShifts(vanished: Row[], added: Row[]): Map<string, Row> {
  const moves = new Map<string, Row>();
  const former = byTitle(vanished);
  for (const [title, others] of byTitle(added)) pairNear({ before: inOrder(former.get(title) ?? []), after: inOrder(others) }, FURTHEST_ZONES_MS, moves);
  return moves;
}

const DAY_MS = 24 * 3600_000;
/** Zones differ by so much at most. */
const FURTHEST_ZONES_MS = 26 * 3600_000;
const FURTHEST_MOVE_DAYS = 31;
/** A meeting that was moved within a day, and not the next one of a daily series. */
const SAME_DAY_MS = 12 * 3600_000;

/**
 * Finds meetings that vanished under one key and appeared under another, because the key contains the date or the id of a series that was entered again. Of one title, those at the same time are the same,
 * then those on about the same day in their order, then the only one that is left, within a month, unless the list has others of that title: a series has its next meeting at the usual distance. Last,
 * a meeting at the same time whose title begins with the other one was renamed.
 */
function pairMoves(vanished: Row[], rows: Row[], isKnown: (key: string) => boolean): { moves: Map<string, Row>; left: Row[] } {
  const moves = new Map<string, Row>();
  const gone = byTitle(vanished);
  const listed = byTitle(rows);
  const added = rows.filter(({ key }) => !isKnown(key));
  for (const [title, others] of byTitle(added)) {
    let rest = { before: inOrder(gone.get(title) ?? []), after: inOrder(others) };
    for (const furthest of [0, SAME_DAY_MS]) rest = pairNear(rest, furthest, moves);
    const [row, ...more] = rest.before;
    if (row && more.length === 0 && rest.after.length === 1 && listed.get(title)!.length === 1 && distance(row, rest.after[0]!) <= FURTHEST_MOVE_DAYS * DAY_MS) moves.set(rest.after[0]!.key, row);
  }
  pairRenamed(vanished, added, moves);
  const moved = new Set(moves.values());
  return { moves, left: vanished.filter((row) => !moved.has(row)) };
}

function pairRenamed(vanished: Row[], added: Row[], moves: Map<string, Row>): void {
  const moved = new Set(moves.values());
  const left = vanished.filter((row): row is MeetingRow => row.kind === 'meeting' && row.start !== null && !moved.has(row));
  for (const row of added) {
    if (row.kind !== 'meeting' || moves.has(row.key)) continue;
    const at = left.findIndex((former) => isRenamed(former, row));
    if (at >= 0) moves.set(row.key, left.splice(at, 1)[0]!);
  }
}

interface Unpaired {
  before: MeetingRow[];
  after: MeetingRow[];
}

/** Pairs meetings in their order that are at most so far apart. Returns the others. */
function pairNear({ before, after }: Unpaired, furthest: number, moves: Map<string, Row>): Unpaired {
  const left = [...before];
  const skipped: MeetingRow[] = [];
  const unpaired = after.filter((row) => {
    while (left.length > 0 && left[0]!.start! < row.start! && distance(left[0]!, row) > furthest) skipped.push(left.shift()!);
    if (left.length === 0 || !(distance(left[0]!, row) <= furthest)) return true;
    moves.set(row.key, left.shift()!);
    return false;
  });
  return { before: [...skipped, ...left], after: unpaired };
}

function inOrder(rows: MeetingRow[]): MeetingRow[] {
  return rows.toSorted((a, b) => ((a.start ?? '') < (b.start ?? '') ? -1 : 1));
}

function byTitle(rows: Row[]): Map<string, MeetingRow[]> {
  const found = new Map<string, MeetingRow[]>();
  for (const row of rows) {
    if (row.kind !== 'meeting') continue;
    const same = found.get(row.title);
    if (same) same.push(row);
    else found.set(row.title, [row]);
  }
  return found;
}

function distance(row: MeetingRow, other: MeetingRow): number {
  return Math.abs(Date.parse(row.start ?? '') - Date.parse(other.start ?? ''));
}

export function isUpcoming(row: Row, now: number): boolean {
  return row.kind === 'meeting' && row.status !== 'cancelled' && row.start !== null && Date.parse(row.start) > now;
}
