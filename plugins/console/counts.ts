import { repeat, type Civic, type Repeating } from 'civic';
import { addCounts } from './store.ts';

/** Counters of this node. Once a minute they are added to the hourly counts of the installation. */
export interface Counters {
  /** Declares a counter: `total` returns the count on this node since its start. */
  add(name: string, total: () => number): void;
  /** Returns what was counted and is not stored yet. */
  pending(): Map<string, number>;
  flush(): Promise<void>;
  start(): void;
  /** Stores the pending counts. */
  stop(): Promise<void>;
}

export interface CountersContext {
  db(): Pick<Civic['db'], 'write'>;
  clock: Civic['clock'];
  log: Civic['log'];
}

const HOUR_MS = 3600_000;
const FLUSH_MS = 60_000;

/** Returns when the hour of a time began. */
export function hourOf(time: number): string {
  return new Date(Math.floor(time / HOUR_MS) * HOUR_MS).toISOString();
}

export function createCounters({ db, clock, log }: CountersContext): Counters {
  const totals = new Map<string, () => number>();
  const stored = new Map<string, number>();
  let flushing: Repeating | undefined;

  const pending = (): Map<string, number> => new Map([...totals].flatMap(([name, total]) => {
    const count = total() - (stored.get(name) ?? 0);
    return count > 0 ? [[name, count] as const] : [];
  }));

  async function flush(): Promise<void> {
    const counts = pending();
    if (counts.size === 0) return;
    await db().write((tx) => addCounts(tx, hourOf(clock.now()), counts));
    for (const [name, count] of counts) stored.set(name, (stored.get(name) ?? 0) + count);
  }

  const onError = (error: unknown): void => { log.warn({ err: error }, 'The counts for the plots of the console could not be stored; they are stored with the next ones'); };
  return {
    add(name, total) {
      if (totals.has(name)) throw new Error(`The series "${name}" of the console is declared twice`);
      totals.set(name, total);
    },
    pending,
    flush,
    start() { flushing = repeat(FLUSH_MS, flush, onError); },
    async stop() {
      await flushing?.stop();
      await flush().catch(onError);
    },
  };
}
