import type { Database } from '../database/types.ts';
import type { Check, CheckResult } from '../plugin.ts';
import type { Sequence } from '../sequence.ts';
import type { EventRow } from './delivery.ts';
import { allPositions } from './positions.ts';

export interface EventsStatus {
  /** The newest event. */
  head: number;
  /** The newest event that was pruned. */
  floor: number;
  plugins: PluginEvents[];
}

export interface PluginEvents {
  plugin: string;
  position: number;
  /** How many events it is behind; those it does not listen to are passed over within a second or so. */
  lag: number;
  state: 'running' | 'retrying' | 'stopped' | 'off';
  attempts: number;
  failed_seq: number | null;
  error: string | null;
  retry_at: string | null;
  stopped_at: string | null;
}

export async function eventsStatus(db: Database, sequence: Sequence<EventRow>): Promise<EventsStatus> {
  // Positions first: none of them can then be ahead of the head.
  const positions = await allPositions(db.read);
  const head = await sequence.head(db.read);
  return {
    head: head.last_seq,
    floor: head.floor_seq,
    plugins: positions.map(({ seq, off_at, must_rebuild: _, ...position }) => ({
      ...position,
      position: seq,
      lag: off_at ? 0 : head.last_seq - seq,
      state: off_at ? 'off' : position.stopped_at ? 'stopped' : position.attempts > 0 ? 'retrying' : 'running',
    })),
  };
}

/** For `doctor` and `/health/ready`: fails while a plugin's delivery is stopped. */
export function eventsCheck(status: () => Promise<EventsStatus>): Check {
  return { name: 'events', readiness: true, run: async () => judge(await status()) };
}

function judge({ head, plugins }: EventsStatus): CheckResult {
  const stopped = plugins.filter(({ state }) => state === 'stopped');
  if (stopped.length > 0) {
    return {
      status: 'failed',
      detail: stopped.map(({ plugin, failed_seq, error }) => `Delivery to ${plugin} stopped at event ${failed_seq}: ${error}`).join('. '),
      fix: stopped.map(({ plugin }) => `bin/civic events retry ${plugin}`).join('\n'),
    };
  }
  const retrying = plugins.filter(({ state }) => state === 'retrying');
  if (retrying.length > 0) {
    return { status: 'warning', detail: retrying.map(({ plugin, failed_seq, error }) => `${plugin} failed on event ${failed_seq} and tries again: ${error}`).join('. ') };
  }
  return { status: 'ok', detail: `${head} events so far, ${Math.max(0, ...plugins.map(({ lag }) => lag))} waiting` };
}
