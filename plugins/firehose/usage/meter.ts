import { repeat, type Clock, type Database, type Logger, type Repeating } from 'civic';
import { addUsage, usageOfMonth, type UsageRow } from './store.ts';

/** What a workspace used, as it is told in every answer. */
export interface Meter {
  /** As 2026-01. */
  period: string;
  signals: number;
}

export interface Metering {
  /** Counts signals that were sent to a workspace. */
  add(workspaceId: string, signals: number): void;
  /** Its use this month, once `load` has looked it up. */
  of(workspaceId: string): Meter;
  load(workspaceId: string): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const WRITE_MS = 5000;

/** Counted in memory and written behind: a crash loses seconds of a count, never a signal. */
export function createMeter(options: { db: () => Database; clock: Clock; log: Logger }): Metering {
  const known = new Map<string, Meter>();
  let fresh = new Map<string, UsageRow>();
  let writing: Repeating | undefined;

  const month = () => options.clock.iso().slice(0, 7);

  function meterOf(workspaceId: string): Meter {
    const meter = known.get(workspaceId);
    if (meter?.period === month()) return meter;
    const made = { period: month(), signals: 0 };
    known.set(workspaceId, made);
    return made;
  }

  function addFresh({ workspace_id, period, signals }: UsageRow): void {
    const key = `${workspace_id} ${period}`;
    const row = fresh.get(key);
    if (row) row.signals += signals;
    else fresh.set(key, { workspace_id, period, signals });
  }

  async function flush(): Promise<void> {
    const rows = [...fresh.values()];
    fresh = new Map();
    try {
      await options.db().write((tx) => addUsage(tx, rows));
    } catch (error) {
      rows.forEach(addFresh);
      throw error;
    }
  }

  return {
    add(workspaceId, signals) {
      const meter = meterOf(workspaceId);
      meter.signals += signals;
      addFresh({ workspace_id: workspaceId, period: meter.period, signals });
    },
    of: meterOf,
    async load(workspaceId) {
      if (known.get(workspaceId)?.period === month()) return;
      const period = month();
      const stored = await usageOfMonth(options.db().read, workspaceId, period);
      known.set(workspaceId, { period, signals: stored + (fresh.get(`${workspaceId} ${period}`)?.signals ?? 0) });
    },
    start() { writing = repeat(WRITE_MS, flush, (error) => options.log.warn({ err: error }, 'What workspaces used could not be written down yet')); },
    async stop() {
      await writing?.stop();
      await flush();
    },
  };
}
