import type { Clock } from '../clock.ts';
import type { Database } from '../database/types.ts';
import type { Logger } from '../log.ts';
import type { Sequence } from '../sequence.ts';
import type { EventRow } from './delivery.ts';
import { allPositions } from './positions.ts';

const DAY_MS = 24 * 3600_000;
const CHUNK = 1000;

export interface RetentionOptions {
  db: Database;
  sequence: Sequence<EventRow>;
  clock: Clock;
  log: Logger;
  days: number;
}

/**
 * Removes events older than the retention, but none that a plugin has still to hear. A plugin that has been stopped
 * for longer than the retention is no longer waited for: the log would grow for ever. That is said each time.
 */
export async function pruneEvents({ db, sequence, clock, log, days }: RetentionOptions): Promise<number> {
  const cutoff = new Date(clock.now() - days * DAY_MS).toISOString();
  const positions = (await allPositions(db.read)).filter(({ off_at }) => !off_at);
  const givenUp = positions.filter(({ stopped_at }) => stopped_at !== null && stopped_at < cutoff);
  const needed = Math.min(...positions.filter((position) => !givenUp.includes(position)).map(({ seq }) => seq));

  let removed = 0;
  for (;;) {
    const { floor_seq } = await sequence.head(db.read);
    const upTo = Math.min(needed, await lastBefore(db, floor_seq, cutoff));
    if (upTo <= floor_seq) break;
    removed += await sequence.prune(upTo);
    const behind = givenUp.filter(({ seq }) => seq < upTo).map(({ plugin }) => plugin);
    if (behind.length > 0) log.error({ plugins: behind, up_to: upTo }, `Events that ${behind.join(', ')} never heard were removed: delivery has been stopped for more than ${days} days`);
  }
  return removed;
}

/** The newest event of the next few that is old enough; walking from the floor needs no index on the time. */
async function lastBefore(db: Database, floor: number, cutoff: string): Promise<number> {
  const row = await db.read('core_event_log').where('seq', '>', floor).where('seq', '<=', floor + CHUNK).where('at', '<', cutoff).max('seq as seq').first();
  return row?.seq ?? floor;
}
