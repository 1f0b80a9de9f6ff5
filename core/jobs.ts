import type { Schema as JoiSchema } from 'joi';
import type { Reader, Tx } from './database/types.ts';

export { createJobs, SCHEDULE_KEY, type JobsOptions } from './jobs/runner.ts';

export interface JobKind<Payload = any> {
  /** Begins with the plugin's name and a dot: `discovery.run`. */
  name: string;
  payload?: JoiSchema;
  /** Whole seconds a worker may be silent before the job is given to another; kept alive while `run` runs. 60 when absent. */
  lease_seconds?: number;
  /** How often it is begun, also by workers that died of it, before it counts as failed. 5 when absent. */
  max_attempts?: number;
  /** Runs again and again with an empty payload, one at a time over the whole installation. What was missed while nothing ran is made up for by one run. */
  every_seconds?: number;
  /** Runs for each key of `setDue` at its own times, with the payload `{ key }`. Completed runs are not kept. */
  by_key?: boolean;
  /** `network` for jobs that wait for other servers: they have a number of their own (`jobs.network_concurrency`), so that they never delay the others. `main` when absent. */
  lane?: Lane;
  /** May run again after it has done its work, when the process dies before that is recorded: its effects bear repetition. */
  run(job: RunningJob<Payload>): Promise<void>;
}

export interface RunningJob<Payload = any> {
  id: string;
  payload: Payload;
  /** 1 the first time. */
  attempt: number;
  /** Aborted when the process is asked to stop, the job was cancelled or the lease was lost; stop soon and throw, the job is handed over. */
  signal: AbortSignal;
  /** Cheap: stored now and then. Throws when `signal` is aborted. */
  progress(done: number, total: number, phase?: string): Promise<void>;
  /** Runs `fn` in a transaction that commits only while this worker still holds the job. */
  write<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
}

export interface EnqueueOptions {
  /** Higher runs first; 0 is usual. */
  priority?: number;
  run_at?: string;
  /** While a job of this kind with this key waits or runs, another one is not added. */
  unique_key?: string;
}

export interface JobRecord {
  id: string;
  name: string;
  state: 'pending' | 'running' | 'completed' | 'failed';
  attempts: number;
  progress: { phase: string | null; done: number; total: number };
  /** Why the last attempt failed; `cancelled` when it was. */
  error: string | null;
  created_at: string;
  run_at: string;
  finished_at: string | null;
}

/** Jobs of different lanes do not wait for each other. */
export type Lane = 'main' | 'network';

/** When a job runs for a key. */
export interface DueTimes {
  /** The first time, as RFC 3339. */
  at: string;
  every_seconds: number;
}

/** A plugin's own jobs. */
export interface Jobs {
  /** In `register`. */
  define<Payload>(kind: JobKind<Payload>): void;
  /** In the transaction that makes the work necessary; answers the job's id, or that of the one that has its unique key. */
  enqueue(tx: Tx, name: string, payload: unknown, options?: EnqueueOptions): Promise<string>;
  byId(id: string): Promise<JobRecord | null>;
  /** A waiting job is failed at once; a running one gets its signal. False when there is none that waits or runs. */
  cancel(tx: Tx, id: string): Promise<boolean>;
  /** Sets when a job that has `by_key` runs for a key. Later times are multiples of the period after the first; what was missed is made up for by one run. */
  setDue(tx: Tx, name: string, key: string, times: DueTimes): Promise<void>;
  removeDue(tx: Tx, name: string, key: string): Promise<void>;
  /** Returns the next time of each key that has one. */
  dueTimes(reader: Reader, name: string, keys: string[]): Promise<Map<string, string>>;
}

/** `web` answers requests, `worker` does background work, `all` does both. */
export type Role = 'web' | 'worker' | 'all';

/** All jobs of the installation, as the composition sees them. */
export interface JobQueue {
  /** `onDefine` is called before a kind is taken, and throws when it is too late for that. */
  of(plugin: string, onDefine?: () => void): Jobs;
  start(): Promise<void>;
  /** Begins nothing more, asks what runs to stop, waits that long (5 s when absent), and hands the rest to other processes. */
  stop(waitMs?: number): Promise<void>;
  status(): Promise<JobsStatus>;
  /** The job of this kind that was enqueued last. */
  newest(name: string): Promise<JobRecord | null>;
  /** What an operator reads and does. */
  operations: Omit<JobOperations, 'status' | 'newest'>;
}

/** The jobs of all plugins that run, for an operator. Payloads are not part of it: they may hold what no page should show. */
export interface JobOperations {
  status(): Promise<JobsStatus>;
  /** Jobs that failed for good and still need an operator, the latest first: not those that were cancelled, nor runs of a schedule that succeeded since. */
  failed(limit: number): Promise<JobRecord[]>;
  /** Jobs that run now, and those that wait, the next first. */
  underway(limit: number): Promise<JobRecord[]>;
  /** Returns the job of a kind that was enqueued last. */
  newest(name: string): Promise<JobRecord | null>;
  schedules(): Promise<JobSchedule[]>;
  /** Lets a failed job run again, from its first attempt. `underway` when another one with its unique key waits or runs, null when it did not fail. */
  retry(tx: Tx, id: string): Promise<'retried' | 'underway' | null>;
  /** Deletes a failed job. Returns its name, or null when there is none. */
  discard(tx: Tx, id: string): Promise<string | null>;
  /** How many jobs ended on this node since it started. */
  totals(): JobTotals;
}

export interface JobSchedule {
  name: string;
  every_seconds: number;
  next_at: string;
}

export interface JobTotals {
  completed: number;
  failed: number;
}

export interface JobsStatus {
  /** Those whose time has come. */
  pending: number;
  running: number;
  oldest_pending_seconds: number | null;
  failed_last_day: number;
}
