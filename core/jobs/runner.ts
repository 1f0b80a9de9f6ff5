import { repeat, type Repeating } from '../background.ts';
import type { Clock } from '../clock.ts';
import { afterCommit } from '../database/commit.ts';
import type { OpenDatabase } from '../database/connect.ts';
import type { Tx } from '../database/types.ts';
import { isId, newId } from '../ids.ts';
import type { EnqueueOptions, JobKind, JobQueue, JobRecord, Jobs, JobTotals, Lane as LaneName, Role } from '../jobs.ts';
import type { Logger } from '../log.ts';
import { dueTimes, pullDue, removeDue, setDue, type Due } from './dues.ts';
import { createLane } from './lane.ts';
import { hasDueSchedule, nextRuns, saveSchedules, takeDueSchedules, type Schedule } from './schedules.ts';
import { cancelJob, discardJob, dropLeases, expireLeases, failedJobs, hasExpired, insertJob, jobById, jobsStatus, jobsUnderway, newestJob, pruneJobs, retryJob, type JobRow } from './store.ts';

export interface JobsOptions {
  /** Asked when first needed: kinds are declared before the database is open. */
  db: () => OpenDatabase;
  log: Logger;
  clock: Clock;
  role: Role;
  /** How many jobs of the main lane this process runs at once. */
  concurrency: number;
  /** The same for the lane of jobs that wait for other servers. */
  networkConcurrency: number;
  pollSeconds: number;
}

const LEASE_SECONDS = 60;
const MAX_ATTEMPTS = 5;
const KEPT_MS = 7 * 24 * 3600_000;
const STOP_MS = 5000;
/** The unique key of jobs that a schedule enqueues. */
export const SCHEDULE_KEY = 'schedule';

export function createJobs(options: JobsOptions): JobQueue {
  const { log, clock } = options;
  const kinds = new Map<string, JobKind>();
  const totals: JobTotals = { completed: 0, failed: 0 };
  // Leases are renewed with each poll, which the operator may have made slow.
  const usualLease = Math.max(LEASE_SECONDS, Math.ceil(3 * options.pollSeconds));
  let polling: Repeating | undefined;
  const lanes = { main: lane('main', options.concurrency), network: lane('network', options.networkConcurrency) };

  function lane(name: LaneName, concurrency: number) {
    const names = () => [...kinds.values()].filter((kind) => laneOf(kind) === name).map((kind) => kind.name);
    return createLane({ ...options, totals, concurrency, kinds, names, enqueue: (tx, { name: kind, key }) => enqueue(tx, kind, { key }, { unique_key: key }) });
  }

  function define(plugin: string, kind: JobKind): void {
    const { name, lease_seconds = usualLease, every_seconds } = kind;
    if (!name.startsWith(`${plugin}.`)) throw new Error(`The plugin ${plugin} cannot define the job "${name}": its jobs begin with "${plugin}."`);
    if (kinds.has(name)) throw new Error(`The job "${name}" is defined twice`);
    if (!Number.isInteger(lease_seconds) || lease_seconds < 3 * options.pollSeconds) throw new Error(`The job "${name}" has a lease of ${lease_seconds} s: it is renewed each ${options.pollSeconds} s (jobs.poll_seconds), so give it whole seconds, three times as many`);
    if (every_seconds !== undefined && !(every_seconds > 0)) throw new Error(`The job "${name}" cannot run every ${every_seconds} seconds`);
    if (every_seconds !== undefined && kind.by_key) throw new Error(`The job "${name}" cannot have every_seconds and by_key: setDue sets the times of each key`);
    if (every_seconds !== undefined) checkPayload(kind, {});
    kinds.set(name, kind);
  }

  async function enqueue(tx: Tx, name: string, payload: unknown, { priority = 0, run_at, unique_key }: EnqueueOptions = {}): Promise<string> {
    const kind = kinds.get(name);
    if (!kind) throw new Error(`The job "${name}" is not defined`);
    checkPayload(kind, payload);
    const { id, isNew } = await insertJob(tx, {
      id: newId(clock.now()),
      name,
      payload: JSON.stringify(payload),
      priority,
      run_at: run_at ? new Date(run_at).toISOString() : clock.iso(),
      unique_key: unique_key ?? null,
      max_attempts: kind.max_attempts ?? MAX_ATTEMPTS,
      lease_seconds: kind.lease_seconds ?? usualLease,
      created_at: clock.iso(),
    });
    // Other nodes find it when they poll: a NOTIFY with each commit would halve what Postgres can write.
    if (isNew) afterCommit(tx, lanes[laneOf(kind)].wake);
    return id;
  }

  async function poll(): Promise<void> {
    for (const lane of Object.values(lanes)) await lane.renew();
    await expire();
    await enqueueDue();
    for (const lane of Object.values(lanes)) lane.wake();
  }

  async function expire(): Promise<void> {
    const db = options.db();
    if (!(await hasExpired(db, clock))) return;
    const { again, failed } = await db.write((tx) => expireLeases(db, tx, clock));
    for (const id of again) log.warn({ job: id }, 'A worker died or stopped answering; its job waits again');
    totals.failed += failed.length;
    for (const id of failed) log.error({ job: id }, 'A job failed for good: its worker died or stopped answering');
  }

  async function enqueueDue(): Promise<void> {
    const db = options.db();
    if (!(await hasDueSchedule(db, schedules(), clock.now()))) return;
    await db.write(async (tx) => {
      const due = await takeDueSchedules(db, tx, schedules(), clock.now());
      // With the unique key a run that takes longer than its period is not joined by a second one.
      for (const name of due) await enqueue(tx, name, {}, { unique_key: SCHEDULE_KEY });
    });
  }

  function schedules(): Schedule[] {
    return [...kinds.values()].flatMap(({ name, every_seconds }) => (every_seconds === undefined ? [] : [{ name, every_seconds }]));
  }

  async function cancel(tx: Tx, plugin: string, id: string): Promise<boolean> {
    const job = await jobById(tx, id);
    if (!job?.name.startsWith(`${plugin}.`)) return false;
    const was = await cancelJob(options.db(), tx, clock, job.id);
    if (was === 'running') afterCommit(tx, () => { for (const lane of Object.values(lanes)) lane.cancel(job.id); });
    return was !== null;
  }

  /** Names the row of a key, of a job that this plugin has defined to run by key. */
  function dueOf(plugin: string, name: string, key: string): Due {
    if (!name.startsWith(`${plugin}.`) || !kinds.get(name)?.by_key) throw new Error(`The plugin ${plugin} has no job "${name}" with by_key`);
    return { name, key };
  }

  define('core', {
    name: 'core.prune_jobs',
    every_seconds: 3600,
    async run({ write, signal }) {
      const before = new Date(clock.now() - KEPT_MS).toISOString();
      while (!signal.aborted && (await write((tx) => pruneJobs(tx, before))) > 0);
      await write((tx) => pullDue(tx, clock.now()));
    },
  });

  return {
    of: (plugin, onDefine): Jobs => ({
      define(kind) {
        onDefine?.();
        define(plugin, kind);
      },
      async enqueue(tx, name, payload, enqueueOptions) {
        if (!name.startsWith(`${plugin}.`)) throw new Error(`The plugin ${plugin} cannot enqueue "${name}": its jobs begin with "${plugin}."`);
        return enqueue(tx, name, payload, enqueueOptions);
      },
      async byId(id) {
        const job = await jobById(options.db().read, id);
        return job?.name.startsWith(`${plugin}.`) ? toRecord(job) : null;
      },
      cancel: (tx, id) => cancel(tx, plugin, id),
      async setDue(tx, name, key, times) {
        if (!(times.every_seconds >= 1)) throw new Error(`The job "${name}" cannot run every ${times.every_seconds} seconds`);
        await setDue(tx, dueOf(plugin, name, key), times);
        afterCommit(tx, lanes[laneOf(kinds.get(name)!)].wake);
      },
      removeDue: (tx, name, key) => removeDue(tx, dueOf(plugin, name, key)),
      dueTimes,
    }),
    async start() {
      if (options.role === 'web') return;
      const db = options.db();
      // One process owns an SQLite file, so whatever ran there died with the one before.
      if (db.dialect === 'sqlite') await db.write(dropLeases);
      await db.write((tx) => saveSchedules(tx, schedules(), clock.now()));
      for (const lane of Object.values(lanes)) lane.start();
      await poll();
      polling = repeat(options.pollSeconds * 1000, poll, (error) => log.warn({ err: error }, 'Looking for jobs failed'));
    },
    async stop(waitMs = STOP_MS) {
      await Promise.all(Object.values(lanes).map((lane) => lane.stop(waitMs)));
      // Until here leases were renewed.
      await polling?.stop();
    },
    status: () => jobsStatus(options.db().read, [...kinds.keys()], clock.now()),
    async newest(name) {
      const job = await newestJob(options.db().read, name);
      return job ? toRecord(job) : null;
    },
    operations: {
      failed: async (limit) => (await failedJobs(options.db().read, [...kinds.keys()], SCHEDULE_KEY, limit)).map(toRecord),
      underway: async (limit) => (await jobsUnderway(options.db().read, [...kinds.keys()], limit)).map(toRecord),
      schedules: () => nextRuns(options.db().read, schedules()),
      async retry(tx, id) {
        const outcome = isId(id) ? await retryJob(options.db(), tx, clock, id) : null;
        if (outcome === 'retried') afterCommit(tx, () => { for (const lane of Object.values(lanes)) lane.wake(); });
        return outcome;
      },
      discard: async (tx, id) => (isId(id) ? discardJob(tx, id) : null),
      totals: () => ({ ...totals }),
    },
  };
}

function laneOf({ lane = 'main' }: JobKind): LaneName {
  return lane;
}

function checkPayload(kind: JobKind, payload: unknown): void {
  const error = kind.payload?.validate(payload, { convert: false }).error;
  if (error) throw new Error(`The payload of the job "${kind.name}" does not fit its schema: ${error.message}`);
}

function toRecord({ id, name, state, attempts, phase, done, total, error, created_at, run_at, finished_at }: JobRow): JobRecord {
  return { id, name, state, attempts, progress: { phase, done, total }, error, created_at, run_at, finished_at };
}
