import { problem, type Database, type Page, type Position } from 'civic';
import type { Log } from '../log/log.ts';
import type { Subscription } from '../query/subscription.ts';
import type { Sort } from '../types.ts';
import type { SharedSnapshots } from './shared.ts';
import { pageRows, tallyOf, type PageRow, type Tally } from './store.ts';
import type { Tallies } from './tallies.ts';

export interface SnapshotContext {
  db(): Database;
  log: Log;
  tallies: Tallies;
  shared: SharedSnapshots;
}

/** A page of what a query finds, at one moment of the log. */
export interface Snapshot {
  tally: Tally;
  /** The log's last line then. */
  head: number;
  rows: PageRow[];
  /** Where the next page begins; null on the last. */
  next: Position | null;
}

/** The tally alone: enough to know whether anything changed, and mostly known without asking the database. */
export async function currentTally(context: SnapshotContext, subscription: Subscription): Promise<Tally> {
  const known = context.tallies.get(subscription);
  if (known) return known;
  const { tally, head } = await context.db().snapshot(async (tx) => ({ tally: await tallyOf(tx, subscription.filter), head: await context.log.headIn(tx) }));
  context.tallies.put(subscription, tally, head);
  return tally;
}

/** All of it is read at one moment, so that a stream from `head` on continues exactly here. */
export function readSnapshot(context: SnapshotContext, subscription: Subscription, page: Pick<Page, 'limit' | 'after'>): Promise<Snapshot> {
  return context.shared.of(JSON.stringify([subscription.key, page.limit, page.after]), () => readNow(context, subscription, page));
}

async function readNow(context: SnapshotContext, subscription: Subscription, page: Pick<Page, 'limit' | 'after'>): Promise<Snapshot> {
  const { log, tallies } = context;
  const { sort } = subscription.query;
  const { after, asOf } = splitPosition(page.after, sort);
  return context.db().snapshot(async (tx) => {
    const head = await log.headIn(tx);
    const known = head === log.position() ? tallies.get(subscription) : null;
    const tally = known ?? await tallyOf(tx, subscription.filter);
    if (!known) tallies.put(subscription, tally, head);
    const rows = await pageRows(tx, subscription.filter, { sort, limit: page.limit, after, asOf: asOf ?? head });
    const isMore = rows.length > page.limit;
    const shown = isMore ? rows.slice(0, page.limit) : rows;
    const last = shown.at(-1);
    return { tally, head, rows: shown, next: isMore && last ? [last.value, last.born, asOf ?? head] : null };
  });
}

/** The value that signals are sorted by, the position of the signal in the log, and that of the first page. */
export const SNAPSHOT_POSITION = ['number', 'integer', 'integer'] as const;

/** A forged one must fit the columns too: one that a session keeps is not known for a cursor when Postgres refuses it. */
export function splitPosition(position: Position | null, sort: Sort): { after: Position | null; asOf: number | null } {
  if (position === null) return { after: null, asOf: null };
  const [value, born, asOf] = position;
  const fits = (sort === 'relevance_desc' ? Number.isFinite : Number.isSafeInteger)(value) && Number.isSafeInteger(born) && Number.isSafeInteger(asOf);
  if (position.length !== 3 || !fits) throw problem('invalid_cursor', { detail: 'The cursor is not one that this list gave.', errors: [{ parameter: 'cursor', detail: 'is not one that this list gave' }] });
  return { after: [value!, born!], asOf: asOf as number };
}
