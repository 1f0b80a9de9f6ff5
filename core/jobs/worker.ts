import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { OpenDatabase } from '../database/connect.ts';
import type { JobKind, JobTotals, RunningJob } from '../jobs.ts';
import type { Logger } from '../log.ts';
import { endAttempt, type Ending, heldNow, holdsJob, type JobRow, LONGEST_BACKOFF_MS, type Progress, removeCompleted, renewLease } from './store.ts';

export interface Worker {
  /** How many more jobs it can run. */
  free(): number;
  /** Runs a job claimed at a time of `performance.now()` to its end, whatever that is; never rejects. */
  run(row: JobRow, kind: JobKind, claimedAt: number): Promise<void>;
  /** Keeps leases, stores progress, and finds out which jobs were cancelled or lost. */
  renew(): Promise<void>;
  cancel(id: string): void;
  stop(waitMs: number): Promise<void>;
}

interface WorkerOptions {
  db: OpenDatabase;
  log: Logger;
  clock: Clock;
  /** Counts the jobs that end. */
  totals: JobTotals;
  concurrency: number;
}

type Reason = 'stopping' | 'cancelled' | 'lost';

/** A job in this process's hands. */
interface Held {
  row: JobRow;
  controller: AbortController;
  reason: Reason | null;
  /** Not stored yet. */
  progress: Progress | null;
  storedAt: number;
  renewedAt: number;
  /** Ends when others may consider the lease over. */
  leaseTimer: NodeJS.Timeout | undefined;
  ended: Promise<void>;
}

const PROGRESS_MS = 500;

export function createWorker({ db, log, clock, totals, concurrency }: WorkerOptions): Worker {
  const held = new Set<Held>();

  function abort(job: Held, reason: Reason): void {
    if (job.reason) return;
    job.reason = reason;
    job.controller.abort(new Error(`The job is ${reason === 'lost' ? 'run by another worker' : reason}`));
  }

  /** Aborts the job before another worker may take it, also when the database does not answer. */
  function startLease(job: Held, since: number): void {
    clearTimeout(job.leaseTimer);
    job.renewedAt = since;
    const left = job.row.lease_seconds * 1000 - (performance.now() - since);
    job.leaseTimer = setTimeout(() => abort(job, 'lost'), left).unref();
  }

  function run(row: JobRow, kind: JobKind, claimedAt: number): Promise<void> {
    const job: Held = { row, controller: new AbortController(), reason: null, progress: null, storedAt: 0, renewedAt: 0, leaseTimer: undefined, ended: Promise.resolve() };
    held.add(job);
    startLease(job, claimedAt);
    job.ended = attempt(job, kind)
      .catch((error) => log.warn({ err: error, job: row.id, name: row.name }, 'The end of a job could not be stored; it runs again when its lease is over'))
      .finally(() => {
        clearTimeout(job.leaseTimer);
        held.delete(job);
      });
    return job.ended;
  }

  async function attempt(job: Held, kind: JobKind): Promise<void> {
    try {
      if (job.row.cancel_requested) abort(job, 'cancelled');
      job.controller.signal.throwIfAborted();
      await kind.run(runningJob(job));
    } catch (error) {
      return await end(job, endingFor(job, error));
    }
    await end(job, { state: 'completed', error: null, finished_at: clock.iso() }, kind.by_key);
  }

  /** Null when there is nothing left to say: the job belongs to somebody else. */
  function endingFor({ row, reason }: Held, error: unknown): Ending | null {
    if (reason === 'lost') return null;
    if (reason === 'cancelled') return { state: 'failed', error: 'cancelled', finished_at: clock.iso() };
    if (reason === 'stopping') return handedOver(row);
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 1000);
    const about = { err: error, job: row.id, name: row.name, attempt: row.attempts };
    if (row.attempts >= row.max_attempts) {
      log.error(about, `The job ${row.name} failed for good`);
      return { state: 'failed', error: message, finished_at: clock.iso() };
    }
    log.warn(about, `The job ${row.name} failed and is tried again`);
    return { state: 'pending', error: message, run_at: new Date(clock.now() + backoff(row.attempts)).toISOString() };
  }

  /** The attempt was cut short by us, so it does not count. */
  function handedOver(row: JobRow): Ending {
    return { state: 'pending', attempts: row.attempts - 1 };
  }

  async function end(job: Held, ending: Ending | null, isForgotten = false): Promise<void> {
    if (!ending) return;
    const isHeld = await db.write((tx) => (isForgotten ? removeCompleted(tx, job.row) : endAttempt(tx, job.row, ending, job.progress)));
    if (isHeld) count(ending);
    else log.warn({ job: job.row.id, name: job.row.name }, `The job ${job.row.name} ended after its lease was lost; another worker has it`);
  }

  function count({ state, error }: Ending): void {
    if (state === 'completed') totals.completed++;
    else if (state === 'failed' && error !== 'cancelled') totals.failed++;
  }

  function runningJob(job: Held): RunningJob {
    const { row, controller } = job;
    return {
      id: row.id,
      payload: JSON.parse(row.payload),
      attempt: row.attempts,
      signal: controller.signal,
      async progress(done, total, phase) {
        controller.signal.throwIfAborted();
        job.progress = { done, total, phase: phase ?? null };
        if (performance.now() - job.storedAt > PROGRESS_MS) await renewOne(job);
      },
      write: (fn) => db.write(async (tx) => {
        if (!(await holdsJob(db, tx, row))) {
          abort(job, 'lost');
          controller.signal.throwIfAborted();
        }
        return fn(tx);
      }),
    };
  }

  async function renewOne(job: Held): Promise<void> {
    const since = performance.now();
    const { progress } = job;
    job.storedAt = since;
    const row = await db.write((tx) => renewLease(db, tx, clock, job.row, progress));
    if (job.progress === progress) job.progress = null;
    if (!row) return abort(job, 'lost');
    startLease(job, since);
    if (row.cancel_requested) abort(job, 'cancelled');
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return;
    const jobs = [...held];
    const found = await heldNow(db.read, jobs.map(({ row }) => row));
    for (const job of jobs) {
      if (!held.has(job)) continue;
      const isDue = performance.now() - job.renewedAt > (job.row.lease_seconds * 1000) / 3;
      if (!found.has(job.row.key)) abort(job, 'lost');
      else if (found.get(job.row.key)!.isCancelled) abort(job, 'cancelled');
      else if (isDue || job.progress) await renewOne(job);
    }
  }

  return {
    free: () => concurrency - held.size,
    run,
    renew,
    cancel(id) {
      for (const job of held) if (job.row.id === id) abort(job, 'cancelled');
    },
    async stop(waitMs) {
      const jobs = [...held];
      for (const job of jobs) abort(job, 'stopping');
      await Promise.race([Promise.all(jobs.map(({ ended }) => ended)), sleep(waitMs, undefined, { ref: false })]);
      const left = jobs.filter((job) => held.has(job));
      for (const { row } of left) {
        log.warn({ job: row.id, name: row.name }, `The job ${row.name} did not stop in time and is handed over`);
        await db.write((tx) => endAttempt(tx, row, handedOver(row)));
      }
    },
  };
}

/** Doubling, from two seconds, and spread so that what failed together does not come back together. */
function backoff(attempts: number): number {
  return Math.min(1000 * 2 ** attempts, LONGEST_BACKOFF_MS) * (0.75 + Math.random() / 2);
}
