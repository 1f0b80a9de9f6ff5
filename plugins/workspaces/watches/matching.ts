import { createWaker, repeat, type Civic, type Repeating, type Tx } from 'civic';
import type { FirehoseService, FollowedEntry, Signal } from 'civic/firehose';
import type { WorkspacesConfig } from '../config.ts';
import { meetsQuery, signalKeys } from './keys.ts';
import { createPosition, deleteDeliveriesOfSignal, indexedWatches, insertDeliveries, lockedPosition, movePosition, positionOf, type DeliveryRow, type MatchedWatch } from './store.ts';
import { setAlertDue } from './subscribers-store.ts';
import type { WatchQuery } from './types.ts';

export interface Matching {
  /** Compares entries of the log with the watches until none is left. */
  run(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const ENTRIES_AT_ONCE = 100;
/** A transaction ends after the entry with which it exceeds this many rows. */
const ROWS_AT_ONCE = 2000;
const MOST_WATCHES_NAMED = 20;
const POLL_MS = 10_000;

/**
 * Compares each signal with the watches, once over all nodes: the position in the log is locked, and moves in the transaction that stores
 * the deliveries. A node that stops or dies before the commit leaves the entries to the next one.
 */
export function createMatching(civic: Civic<WorkspacesConfig>, firehose: FirehoseService): Matching {
  let polling: Repeating | undefined;
  const report = (error: unknown) => civic.log.warn({ err: error }, 'Comparing signals with watches is delayed');
  const waker = createWaker(run, report);

  async function run(): Promise<void> {
    for (let from = await positionOf(civic.db.read); from !== null && from < firehose.follow.position(); from = await positionOf(civic.db.read)) {
      const entries = await firehose.follow.entries(from, ENTRIES_AT_ONCE);
      if (entries.length === 0) return;
      const after = from;
      await civic.db.write(async (tx) => {
        // Another node was faster.
        if (await lockedPosition(tx) !== after) return;
        await movePosition(tx, await storeMatches(tx, entries));
      });
    }
  }

  /** Returns the last entry that was compared. */
  async function storeMatches(tx: Tx, entries: FollowedEntry[]): Promise<number> {
    let stored = 0;
    const alertAt = new Date(civic.clock.now() + civic.config.alert_wait_seconds * 1000).toISOString();
    for (const entry of entries) {
      stored += await storeMatch(tx, entry, { isCivic: entry.signal !== null && !firehose.isUpkeep(entry.signal), at: civic.clock.iso(), alertAt });
      if (stored >= ROWS_AT_ONCE) return entry.seq;
    }
    return entries.at(-1)!.seq;
  }

  return {
    run: async () => {
      waker.wake();
      await waker.idle();
    },
    async start() {
      if (await positionOf(civic.db.read) === null) await civic.db.write((tx) => createPosition(tx, firehose.follow.position()));
      firehose.follow.onEntries(waker.wake);
      // After an error, or a signal between the start of the Firehose and this one.
      polling = repeat(POLL_MS, async () => waker.wake(), report);
      waker.wake();
    },
    async stop() {
      await polling?.stop();
      await waker.idle();
    },
  };
}

/** Stores the deliveries of an entry of the log, and returns how many there are. `isCivic` is false for signals about the upkeep of the directory. */
export async function storeMatch(tx: Tx, { seq, signal_id, signal, workspace_id, isUpdate }: FollowedEntry, { isCivic, at, alertAt }: { isCivic: boolean; at: string; alertAt: string }): Promise<number> {
  // Of the versions of a signal the latest is delivered; what was withdrawn disappears.
  if (isUpdate && signal_id !== null) await deleteDeliveriesOfSignal(tx, signal_id);
  if (!signal) return 0;
  const watches = (await indexedWatches(tx, signalKeys(signal, isCivic), workspace_id)).filter((watch) => isMet(watch, signal));
  const rows = deliveriesOf(watches).map(([watch, keys]): DeliveryRow => ({
    subscriber_key: watch.subscriber_key, seq, workspace_id: watch.workspace_id, signal_id: signal.id, is_update: isUpdate, watch_keys: JSON.stringify(keys.slice(0, MOST_WATCHES_NAMED)), at,
  }));
  await insertDeliveries(tx, rows);
  const alerted = watches.filter(({ delivery }) => delivery === 'immediate').map((watch) => watch.subscriber_key);
  await setAlertDue(tx, [...new Set(alerted)], alertAt);
  return rows.length;
}

function isMet({ compared }: MatchedWatch, signal: Signal): boolean {
  return compared === null || meetsQuery(signal, JSON.parse(compared) as WatchQuery);
}

/** Groups watches by subscriber, immediate ones first, so that they are named. */
function deliveriesOf(watches: MatchedWatch[]): [MatchedWatch, number[]][] {
  const bySubscriber = new Map<number, [MatchedWatch, number[]]>();
  for (const watch of watches.toSorted((a, b) => Number(b.delivery === 'immediate') - Number(a.delivery === 'immediate') || a.key - b.key)) {
    const found = bySubscriber.get(watch.subscriber_key);
    if (found) found[1].push(watch.key);
    else bySubscriber.set(watch.subscriber_key, [watch, [watch.key]]);
  }
  return [...bySubscriber.values()];
}
