import type { Database, Tx } from '../database/types.ts';
import type { Sequence } from '../sequence.ts';
import type { EventRow } from './delivery.ts';
import { heldPosition, movePosition } from './positions.ts';

/** How the delivery of events to a plugin was resumed after a failure. */
export interface ResumedDelivery {
  plugin: string;
  /** The event that failed. */
  seq: number;
  /** Null when the event was pruned meanwhile. */
  name: string | null;
  error: string | null;
  /** How many events of all kinds were pruned while delivery was stopped; above 0 the plugin has missed some. */
  missed: number;
}

/** Retries or skips the event that stopped a plugin. Returns null when no event did. */
export async function resumeDelivery(tx: Tx, db: Database, sequence: Sequence<EventRow>, plugin: string, how: 'retry' | 'skip'): Promise<ResumedDelivery | null> {
  const position = await heldPosition(db, tx, plugin);
  if (!position || position.off_at || position.failed_seq === null) return null;
  const { floor_seq } = await sequence.head(tx);
  const [event] = await sequence.after(tx, position.failed_seq - 1, 1);
  const target = how === 'skip' ? position.failed_seq : position.seq;
  await movePosition(tx, plugin, Math.max(target, floor_seq));
  return {
    plugin,
    seq: position.failed_seq,
    name: event?.seq === position.failed_seq ? event.name : null,
    error: position.error,
    missed: Math.max(0, floor_seq - position.seq),
  };
}
