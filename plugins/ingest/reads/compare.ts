import { createHash } from 'node:crypto';
import type { SignalChange } from 'civic/firehose';
import type { MeetingRow, Row } from '../adapters/types.ts';
import { changedFields } from './fields.ts';

/** A row as the last read that had it found it. */
export interface KnownRow {
  hash: string;
  row: Row;
}

export type Change =
  | { type: 'added'; row: Row }
  | { type: 'changed'; before: Row; row: Row; fields: SignalChange[] }
  | { type: 'gone'; row: Row };

export interface Comparison {
  changes: Change[];
  /** Upcoming meetings that are missing, but not believed: most of what was there is missing at once. */
  doubted: Row[];
}

export interface CompareOptions {
  now: number;
  /** Whether the source lists every upcoming meeting, so that one that is missing was cancelled. */
  isComplete: boolean;
  /** Whether these rows were missing in the last read as well; then they are believed to be gone. */
  wasDoubted(row: Row): boolean;
}

/** So many upcoming meetings may vanish at once without a doubt, or half of them. */
const FEW = 4;

/** Returns a hash of what a row states: neither where it states it nor when it was published counts. */
export function hashOf(row: Row): string {
  return createHash('sha256').update(JSON.stringify({ ...row, passage: undefined })).digest('hex');
}

/** Returns a row with what this read left out taken from the last one. */
export function completed(row: Row, known: Row | undefined): Row {
  if (row.kind === 'meeting') {
    const former = known?.kind === 'meeting' ? known.items ?? [] : [];
    const votes = new Map(former.map((item) => [item.key, item.votes]));
    return { ...row, items: row.items?.map((item) => ({ ...item, votes: item.votes ?? votes.get(item.key) ?? [] })) ?? former };
  }
  if (row.kind !== 'filing') return row;
  const former = known?.kind === 'filing' ? known : null;
  return { ...row, sponsors: row.sponsors ?? former?.sponsors ?? [], actions: row.actions ?? former?.actions ?? [] };
}

/** Compares the rows of a read, completed, with those that are known. Times of change that a platform reports do not count, because they are often wrong. */
export function compareRows(known: Map<string, KnownRow>, rows: Row[], { now, isComplete, wasDoubted }: CompareOptions): Comparison {
  const read = new Map(rows.map((row) => [row.key, row]));
  const vanished = isComplete && rows.length > 0 ? [...known.values()].filter(({ row }) => !read.has(row.key) && isUpcoming(row, now)).map(({ row }) => row) : [];
  const { moves, left } = pairMoves(vanished, [...read.values()].filter(({ key }) => !known.has(key)));
  const upcoming = [...known.values()].filter(({ row }) => isUpcoming(row, now)).length;
  const isDoubtful = left.length > FEW && left.length * 2 > upcoming;
  const gone = left.filter((row) => !isDoubtful || wasDoubted(row));
  return {
    changes: [...[...read.values()].flatMap((row) => changeOf(row, known.get(row.key), moves.get(row.key))), ...gone.map((row): Change => ({ type: 'gone', row }))],
    doubted: left.filter((row) => !gone.includes(row)),
  };
}

function changeOf(row: Row, known: KnownRow | undefined, movedFrom: Row | undefined): Change[] {
  if (movedFrom) return [{ type: 'changed', before: movedFrom, row, fields: changedFields(movedFrom, row) }];
  if (!known) return [{ type: 'added', row }];
  if (known.hash === hashOf(row)) return [];
  return [{ type: 'changed', before: known.row, row, fields: changedFields(known.row, row) }];
}

const DAY_MS = 24 * 3600_000;
const FURTHEST_MOVE_DAYS = 31;

/** Finds meetings that vanished under one key and appeared under another, because the key contains the date: the same title within a month. Each is paired with the nearest. */
function pairMoves(vanished: Row[], added: Row[]): { moves: Map<string, Row>; left: Row[] } {
  const moves = new Map<string, Row>();
  const left: Row[] = [];
  for (const row of vanished) {
    const candidates = added.filter((other): other is MeetingRow => other.kind === 'meeting' && other.title === (row as MeetingRow).title && !moves.has(other.key) && distance(row, other) <= FURTHEST_MOVE_DAYS * DAY_MS);
    const [nearest] = candidates.toSorted((a, b) => distance(row, a) - distance(row, b));
    // A series has its next meeting at the usual distance: only a single one was moved.
    if (nearest && candidates.length === 1) moves.set(nearest.key, row);
    else left.push(row);
  }
  return { moves, left };
}

function distance(row: Row, other: MeetingRow): number {
  return Math.abs(Date.parse((row as MeetingRow).start ?? '') - Date.parse(other.start ?? ''));
}

export function isUpcoming(row: Row, now: number): boolean {
  return row.kind === 'meeting' && row.status !== 'cancelled' && row.start !== null && Date.parse(row.start) > now;
}
