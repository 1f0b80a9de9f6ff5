import type { Knex } from 'knex';
import { latestEnd, type Clock } from '../clock.ts';
import type { Database, Reader, Tx } from '../database/types.ts';
import { isId } from '../ids.ts';
import type { JobRecord, JobsStatus } from '../jobs.ts';

export interface JobRow {
  key: number;
  id: string;
  name: string;
  payload: string;
  state: JobRecord['state'];
  priority: number;
  run_at: string;
  unique_key: string | null;
  attempts: number;
  max_attempts: number;
  lease_seconds: number;
  /** Made anew with each claim: a worker that lost the job can no longer change it. */
  token: string | null;
  lease_until: string | null;
  cancel_requested: 0 | 1;
  phase: string | null;
  done: number;
  total: number;
  error: string | null;
  created_at: string;
  finished_at: string | null;
}

export type NewJob = Pick<JobRow, 'id' | 'name' | 'payload' | 'priority' | 'run_at' | 'unique_key' | 'max_attempts' | 'lease_seconds' | 'created_at'>;
export type Claim = Pick<JobRow, 'key' | 'token'>;
export type Progress = Pick<JobRow, 'phase' | 'done' | 'total'>;

const TABLE = 'core_jobs';
const UNDERWAY = ['pending', 'running'];
const RELEASED = { token: null, lease_until: null };
/** The longest wait between two attempts, before it is spread. */
export const LONGEST_BACKOFF_MS = 3600_000;

/**
 * Leases go by the clock of Postgres: those of several machines differ. A lease that ends later than any lease that begins
 * now was written while that clock was ahead. On SQLite the one process drops all leases when it starts.
 */
function leaseIsOver(db: Database, reader: Reader, clock: Clock): Knex.Raw {
  return db.dialect === 'postgres'
    ? reader.raw(`(lease_until < now() or lease_until > now() + (lease_seconds + 60) * interval '1 second')`)
    : reader.raw('lease_until < ?', [clock.iso()]);
}

function leaseEnd(db: Database, tx: Tx, clock: Clock): Knex.Raw {
  return db.dialect === 'postgres'
    ? tx.raw(`now() + lease_seconds * interval '1 second'`)
    : tx.raw(`strftime('%Y-%m-%dT%H:%M:%fZ', ?, lease_seconds || ' seconds')`, [clock.iso()]);
}

/** Answers the id of the new job, or of the one underway with the same unique key. */
export async function insertJob(tx: Tx, job: NewJob): Promise<{ id: string; isNew: boolean }> {
  for (;;) {
    const row = { ...job, state: 'pending', attempts: 0, cancel_requested: false, done: 0, total: 0 };
    const [made] = await tx(TABLE).insert(row).onConflict().ignore().returning('id');
    if (made) return { id: made.id, isNew: true };
    const underway = await tx(TABLE).where({ name: job.name, unique_key: job.unique_key }).whereIn('state', UNDERWAY).first('id');
    if (underway) return { id: underway.id, isNew: false };
    // It has just finished: the next insert succeeds.
  }
}

export interface ClaimOptions {
  names: string[];
  limit: number;
  token: string;
}

/** A job that was enqueued, or failed, while the clock was ahead does not wait until then. */
function isDue(time: Knex.QueryBuilder, clock: Clock): void {
  time.where('run_at', '<=', clock.iso())
    .orWhere('created_at', '>', new Date(latestEnd(clock.now(), 0)).toISOString())
    .orWhere((retry) => retry.where('attempts', '>', 0).where('run_at', '>', new Date(latestEnd(clock.now(), 2 * LONGEST_BACKOFF_MS)).toISOString()));
}

/** Takes the most urgent jobs. Attempts count from here, so that a job that kills its process does not run for ever. */
export async function claimJobs(db: Database, tx: Tx, clock: Clock, { names, limit, token }: ClaimOptions): Promise<JobRow[]> {
  const due = tx(TABLE).select('key').where({ state: 'pending' }).where((time) => isDue(time, clock)).whereIn('name', names)
    .orderBy([{ column: 'priority', order: 'desc' }, 'run_at', 'key']).limit(limit);
  if (db.dialect === 'postgres') due.forUpdate().skipLocked();
  return tx(TABLE).withMaterialized('due', due).whereIn('key', tx('due').select('key'))
    .update({ state: 'running', token, attempts: tx.raw('attempts + 1'), lease_until: leaseEnd(db, tx, clock) })
    .returning('*');
}

/** Keeps the lease and stores progress. Answers null when the job is no longer held. */
export async function renewLease(db: Database, tx: Tx, clock: Clock, { key, token }: Claim, progress: Progress | null): Promise<{ cancel_requested: 0 | 1 } | null> {
  const [row] = await tx(TABLE).where({ key, token, state: 'running' })
    .update({ ...progress, lease_until: leaseEnd(db, tx, clock) }).returning('cancel_requested');
  return row ?? null;
}

/** Holds the job's row until the transaction ends; false when it belongs to somebody else by now. */
export async function holdsJob(db: Database, tx: Tx, { key, token }: Claim): Promise<boolean> {
  const query = tx(TABLE).where({ key, token, state: 'running' });
  if (db.dialect === 'postgres') query.forUpdate();
  return (await query.first('key')) !== undefined;
}

/** Deletes a job that completed, with earlier failures for its key, which need no operator any more; false when it is no longer held. */
export async function removeCompleted(tx: Tx, { key, token, name, unique_key }: Claim & Pick<JobRow, 'name' | 'unique_key'>): Promise<boolean> {
  const isHeld = await tx(TABLE).where({ key, token, state: 'running' }).delete() === 1;
  if (isHeld && unique_key !== null) await tx(TABLE).where({ name, unique_key, state: 'failed' }).delete();
  return isHeld;
}

export interface Ending {
  state: 'pending' | 'completed' | 'failed';
  error?: string | null;
  /** For one that waits again. */
  run_at?: string;
  /** For one that is finished. */
  finished_at?: string;
  attempts?: number;
}

/** Ends an attempt; false when the job is no longer held. */
export async function endAttempt(tx: Tx, { key, token }: Claim, ending: Ending, progress: Progress | null = null): Promise<boolean> {
  const count = await tx(TABLE).where({ key, token, state: 'running' }).update({ ...progress, ...ending, ...RELEASED });
  return count === 1;
}

/** Which of these were cancelled, or are no longer held. */
export async function heldNow(reader: Reader, claims: Claim[]): Promise<Map<number, { isCancelled: boolean }>> {
  const rows = await reader(TABLE).select('key', 'token', 'cancel_requested').whereIn('key', claims.map(({ key }) => key)).where({ state: 'running' });
  const held = rows.filter((row) => claims.some(({ key, token }) => key === row.key && token === row.token));
  return new Map(held.map((row) => [row.key, { isCancelled: row.cancel_requested === 1 }]));
}

export async function hasExpired(db: Database, clock: Clock): Promise<boolean> {
  const row = await db.read(TABLE).where({ state: 'running' }).whereRaw(leaseIsOver(db, db.read, clock)).first('key');
  return row !== undefined;
}

/** Jobs whose worker has been silent for too long wait again, or have failed for good. Answers the ids of both. */
export async function expireLeases(db: Database, tx: Tx, clock: Clock): Promise<{ again: string[]; failed: string[] }> {
  const expired = () => tx(TABLE).where({ state: 'running' }).whereRaw(leaseIsOver(db, tx, clock));
  const failed = await expired().where((over) => over.where('attempts', '>=', tx.ref('max_attempts')).orWhere('cancel_requested', true))
    .update({
      state: 'failed', finished_at: clock.iso(), ...RELEASED,
      error: tx.raw(`case when cancel_requested = ? then 'cancelled' else 'The worker died or stopped answering' end`, [true]),
    }).returning('id');
  const again = await expired().update({ state: 'pending', run_at: clock.iso(), ...RELEASED }).returning('id');
  return { again: again.map(({ id }) => id), failed: failed.map(({ id }) => id) };
}

export async function dropLeases(tx: Tx): Promise<void> {
  await tx(TABLE).where({ state: 'running' }).update({ lease_until: new Date(0).toISOString() });
}

export async function jobById(reader: Reader, id: string): Promise<JobRow | undefined> {
  // Postgres would refuse what is no UUID, and SQLite compares letter by letter.
  return isId(id) ? reader(TABLE).where({ id: id.toLowerCase() }).first('*') : undefined;
}

export async function newestJob(reader: Reader, name: string): Promise<JobRow | undefined> {
  return reader(TABLE).where({ name }).orderBy('key', 'desc').first('*');
}

/** Answers what the job was doing when it was cancelled; null when it was over. */
export async function cancelJob(db: Database, tx: Tx, clock: Clock, id: string): Promise<'pending' | 'running' | null> {
  const query = tx(TABLE).where({ id }).whereIn('state', UNDERWAY);
  if (db.dialect === 'postgres') query.forUpdate();
  const job = await query.first('key', 'state');
  if (!job) return null;
  const isOver = job.state === 'pending' && { state: 'failed', error: 'cancelled', finished_at: clock.iso() };
  await tx(TABLE).where({ key: job.key }).update({ cancel_requested: true, ...isOver });
  return job.state;
}

/** Returns jobs that failed for good, the latest first; not those that were cancelled, nor runs of a schedule after which another one succeeded. */
export async function failedJobs(reader: Reader, names: string[], scheduleKey: string, limit: number): Promise<JobRow[]> {
  const later = reader(`${TABLE} as later`).whereRaw('later.name = job.name').whereRaw('later.key > job.key').where('later.state', 'completed');
  return reader(`${TABLE} as job`).whereIn('job.name', names).where('job.state', 'failed').whereNot('job.error', 'cancelled')
    .whereNot((superseded) => superseded.where('job.unique_key', scheduleKey).whereExists(later))
    .orderBy([{ column: 'job.finished_at', order: 'desc' }, { column: 'job.key', order: 'desc' }]).limit(limit).select('job.*');
}

/** Returns the jobs that run, then those that wait, the next first. */
export async function jobsUnderway(reader: Reader, names: string[], limit: number): Promise<JobRow[]> {
  const running = await reader(TABLE).whereIn('name', names).where({ state: 'running' }).orderBy('key').limit(limit);
  const pending = await reader(TABLE).whereIn('name', names).where({ state: 'pending' }).orderBy(['run_at', 'key']).limit(limit - running.length);
  return [...running, ...pending];
}

/** Lets a failed job run again. Another job with its unique key that waits or runs makes that needless. */
export async function retryJob(db: Database, tx: Tx, clock: Clock, id: string): Promise<'retried' | 'underway' | null> {
  const query = tx(TABLE).where({ id: id.toLowerCase(), state: 'failed' });
  if (db.dialect === 'postgres') query.forUpdate();
  const job = await query.first('key', 'name', 'unique_key');
  if (!job) return null;
  if (job.unique_key !== null && await tx(TABLE).where({ name: job.name, unique_key: job.unique_key }).whereIn('state', UNDERWAY).first('key')) return 'underway';
  await tx(TABLE).where({ key: job.key }).update({ state: 'pending', attempts: 0, run_at: clock.iso(), error: null, finished_at: null, cancel_requested: false, phase: null, done: 0, total: 0 });
  return 'retried';
}

/** Deletes a failed job. Returns its name. */
export async function discardJob(tx: Tx, id: string): Promise<string | null> {
  const failed = { id: id.toLowerCase(), state: 'failed' };
  const job = await tx(TABLE).where(failed).first('name');
  return await tx(TABLE).where(failed).delete() === 1 ? job.name : null;
}

/** Removes up to 500 finished jobs. */
export async function pruneJobs(tx: Tx, before: string): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).select('key').where('finished_at', '<', before).limit(500)).delete();
}

/** Of the kinds that are known: those of a plugin that is off wait for it. */
export async function jobsStatus(reader: Reader, names: string[], now: number): Promise<JobsStatus> {
  const at = (time: number) => new Date(time).toISOString();
  const known = () => reader(TABLE).whereIn('name', names);
  const due = await known().where({ state: 'pending' }).where('run_at', '<=', at(now)).count('* as count').min('run_at as oldest').first();
  const running = await known().where({ state: 'running' }).count('* as count').first();
  const failed = await known().where({ state: 'failed' }).where('finished_at', '>', at(now - 24 * 3600_000)).whereNot({ error: 'cancelled' }).count('* as count').first();
  return {
    pending: Number(due!.count),
    running: Number(running!.count),
    oldest_pending_seconds: due!.oldest ? Math.round((now - Date.parse(due!.oldest)) / 1000) : null,
    failed_last_day: Number(failed!.count),
  };
}
