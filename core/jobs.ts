import type { Schema as JoiSchema } from 'joi';
import type { Tx } from './database/types.ts';

export interface JobKind<Payload = any> {
  name: string;
  payload?: JoiSchema;
  /** Seconds a worker may be silent before the job is given to another; kept alive while `run` runs. */
  lease_seconds?: number;
  max_attempts?: number;
  /** Runs again and again: at most once per this many seconds over the whole installation. */
  every_seconds?: number;
  run(job: RunningJob<Payload>): Promise<void>;
}

export interface RunningJob<Payload = any> {
  id: string;
  payload: Payload;
  attempt: number;
  /** Aborted when the process is asked to stop or the lease was lost; stop soon and throw, the job is handed over. */
  signal: AbortSignal;
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
  error: string | null;
  created_at: string;
  run_at: string;
  finished_at: string | null;
}

export interface Jobs {
  /** In `register`. */
  define<Payload>(kind: JobKind<Payload>): void;
  /** In the transaction that makes the work necessary; answers the job's id. */
  enqueue(tx: Tx, name: string, payload: unknown, options?: EnqueueOptions): Promise<string>;
  byId(id: string): Promise<JobRecord | null>;
  cancel(tx: Tx, id: string): Promise<boolean>;
}
