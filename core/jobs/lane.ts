import { createWaker } from '../background.ts';
import type { Clock } from '../clock.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { newId } from '../ids.ts';
import type { JobKind, JobTotals } from '../jobs.ts';
import type { Logger } from '../log.ts';
import { hasDue, takeDue, type Due } from './dues.ts';
import { claimJobs, type JobRow } from './store.ts';
import { createWorker, type Worker } from './worker.ts';
import type { Tx } from '../database/types.ts';

export interface LaneOptions {
  db: () => OpenDatabase;
  log: Logger;
  clock: Clock;
  totals: JobTotals;
  concurrency: number;
  kinds: ReadonlyMap<string, JobKind>;
  /** The kinds of this lane. */
  names(): string[];
  /** Adds the job of a key whose time has come. */
  enqueue(tx: Tx, due: Due): Promise<unknown>;
}

/** The jobs of one lane that this process runs. */
export interface Lane {
  /** Takes jobs soon, if it is started. */
  wake(): void;
  start(): void;
  renew(): Promise<void>;
  cancel(id: string): void;
  stop(waitMs: number): Promise<void>;
}

export function createLane({ db: open, log, clock, totals, concurrency, kinds, names, enqueue }: LaneOptions): Lane {
  let worker: Worker | null = null;
  let isStopping = false;
  const claimer = createWaker(claim, (error) => log.warn({ err: error }, 'Taking jobs failed'));
  const namesByKey = () => names().filter((name) => kinds.get(name)!.by_key);

  /** Takes as many jobs that are due as can run now; the end of each job makes room for another. */
  async function claim(): Promise<void> {
    const to = worker;
    if (!to || isStopping || to.free() === 0) return;
    const db = open();
    const isDue = await hasDue(db.read, namesByKey(), clock.now());
    const claimedAt = performance.now();
    const rows = await db.write(async (tx) => {
      if (isDue) for (const due of await takeDue(db, tx, namesByKey(), clock.now(), to.free())) await enqueue(tx, due);
      return claimJobs(db, tx, clock, { names: names(), limit: to.free(), token: newId() });
    });
    for (const row of rows) run(to, row, claimedAt);
  }

  function run(to: Worker, row: JobRow, claimedAt: number): void {
    void to.run(row, kinds.get(row.name)!, claimedAt).then(claimer.wake);
  }

  return {
    wake: claimer.wake,
    start() {
      isStopping = false;
      worker = createWorker({ db: open(), log, clock, totals, concurrency });
    },
    renew: async () => worker?.renew(),
    cancel: (id) => worker?.cancel(id),
    async stop(waitMs) {
      isStopping = true;
      await claimer.idle();
      await worker?.stop(waitMs);
      worker = null;
    },
  };
}
