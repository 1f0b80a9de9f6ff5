import type { Knex } from 'knex';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { problemData } from '../problems.ts';
import { allowSharedWork, takeSharedWork, waitingFor } from './commit.ts';
import { cleanError, isRetryable } from './errors.ts';
import type { SqlitePools } from './sqlite.ts';
import { connectionOfWrite } from './sqlite/group.ts';
import type { Strictness } from './strict.ts';
import type { Tx } from './types.ts';

const GROUP_SIZE = 128;
const GROUP_MILLISECONDS = 20;
const SLOW_MILLISECONDS = 1000;
const ATTEMPTS = 5;

export interface WriteOptions {
  /** Takes long by nature (a migration, a restore): no warning. */
  long?: boolean;
}

export interface Writer {
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Rejects while the storage refuses writes: after a refused write, it tries a small one. */
  checkStorage(): Promise<void>;
  /** Lets waiting writes finish; later ones are refused. */
  close(): Promise<void>;
}

type UncheckedWriter = Omit<Writer, 'checkStorage'>;

interface WriterSettings {
  log: Logger;
  strictness: Strictness;
  /** How long a write waits for another program that holds the database. */
  busyMilliseconds?: number;
}

/** A write that has run: its answer, and what to call once it is committed. */
interface Done<T> {
  value: T;
  tx: Tx;
  announce(): void;
}

/** A write that failed; `isAlone` when it was taken back and nothing around it was touched. */
class FailedWrite {
  readonly error: unknown;
  readonly isAlone: boolean;
  constructor(error: unknown, isAlone: boolean) {
    this.error = error;
    this.isAlone = isAlone;
  }
}

const warned = new WeakSet<Logger>();

/** Once a process: a slow disk makes many writes slow. */
function warnOfSlowWrites(log: Logger): void {
  if (warned.has(log)) return;
  warned.add(log);
  log.warn('A write took more than a second, and other writes waited for it; this is reported once');
}

/** Runs `fn` and returns its own error, also when rolling back failed too. */
async function runTransaction<T>(knex: Knex, fn: (tx: Tx) => Promise<T>, settings: WriterSettings, options: WriteOptions, config: Knex.TransactionConfig): Promise<Done<T> | FailedWrite> {
  let failure: { error: unknown } | null = null;
  const slow = options.long ? undefined : setTimeout(() => warnOfSlowWrites(settings.log), SLOW_MILLISECONDS);
  try {
    return await knex.transaction(async (tx) => {
      try {
        const value = await settings.strictness.inside('db.write', tx, fn);
        return { value, tx, announce: () => announce(tx, settings.log) };
      } catch (error) {
        failure = { error };
        throw error;
      }
    }, config);
  } catch (error) {
    const own = failure as { error: unknown } | null;
    return new FailedWrite(own ? own.error : error, own?.error === error && !isStorageProblem(error));
  } finally {
    clearTimeout(slow);
  }
}

function announce(tx: Tx, log: Logger): void {
  for (const tell of waitingFor(tx)) {
    try {
      tell();
    } catch (error) {
      log.error({ err: error }, 'What was to follow a write failed; the write itself is stored');
    }
  }
}

function refuseClosed(): never {
  throw new Error('db.write was called after the database was closed');
}

interface Waiting {
  run: (isFirst: boolean) => Promise<Done<unknown> | FailedWrite>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  since: number;
}

interface Finished {
  write: Waiting;
  done: Done<unknown>;
}

/**
 * Writes that wait share one `BEGIN IMMEDIATE` and one flush to the disk, each but the first inside a savepoint of its own,
 * and are answered after COMMIT. A write that comes alone waits for nobody.
 */
export function createGroupWriter(pools: SqlitePools, settings: WriterSettings): Writer {
  return checkingStorage(groupWriter(pools, settings));
}

function groupWriter(pools: SqlitePools, settings: WriterSettings): UncheckedWriter {
  const { writer, writing } = pools;
  const busyMilliseconds = settings.busyMilliseconds ?? 30_000;
  let queue: Waiting[] = [];
  /** How many of the next writes run in a group of their own. */
  let alone = 0;
  let working: Promise<void> | null = null;
  let closed = false;

  /** False when nobody is waiting any more. */
  async function begin(): Promise<boolean> {
    while (queue.length > 0) {
      try {
        pools.checkFile();
        await writing.run('BEGIN IMMEDIATE');
        return true;
      } catch (cause) {
        const error = cleanError(cause);
        const isBusy = problemData(error)?.code === 'database_busy';
        const oldest = isBusy ? performance.now() - busyMilliseconds : Infinity;
        const refused = queue.filter((write) => write.since <= oldest);
        queue = queue.filter((write) => write.since > oldest);
        for (const write of refused) write.reject(error);
      }
    }
    return false;
  }

  const rollBack = () => writing.run('ROLLBACK').catch(() => undefined);

  const transact = <T>(fn: (tx: Tx) => Promise<T>, options: WriteOptions, isFirst: boolean) =>
    runTransaction(writer, fn, settings, options, { connection: connectionOfWrite(writing, isFirst) });

  async function runGroup(): Promise<void> {
    if (!(await begin())) return;
    const finished: Finished[] = [];
    const end = performance.now() + GROUP_MILLISECONDS;
    const size = alone > 0 ? 1 : GROUP_SIZE;
    alone = Math.max(0, alone - 1);
    for (let count = 0; count < size && queue.length > 0 && (count === 0 || performance.now() < end); count++) {
      const write = queue.shift()!;
      const isFirst = count === 0;
      const done = await write.run(isFirst);
      if (!(done instanceof FailedWrite)) {
        finished.push({ write, done });
        continue;
      }
      write.reject(done.error);
      // SQLite may have undone the whole group by itself; the others run again in a new one. The first has no savepoint to go back to.
      if (isFirst || !done.isAlone) {
        await rollBack();
        queue.unshift(...finished.map((other) => other.write));
        return;
      }
    }
    const work = takeSharedWork(finished.map(({ done }) => done.tx));
    const shared = work && await transact(work, {}, true);
    if (shared instanceof FailedWrite) {
      await rollBack();
      if (finished.length === 1) return finished[0]!.write.reject(shared.error);
      // One of the writes is the cause: each runs again in a group of its own.
      alone = finished.length;
      queue.unshift(...finished.map(({ write }) => write));
      return;
    }
    try {
      await writing.run('COMMIT');
    } catch (cause) {
      await rollBack();
      const error = cleanError(cause);
      for (const { write } of finished) write.reject(error);
      return;
    }
    shared?.announce();
    for (const { write, done } of finished) {
      write.resolve(done.value);
      done.announce();
    }
  }

  async function work(): Promise<void> {
    while (queue.length > 0) await runGroup();
    working = null;
  }

  return {
    async write<T>(fn: (tx: Tx) => Promise<T>, options: WriteOptions = {}): Promise<T> {
      settings.strictness.check('db.write');
      if (closed) refuseClosed();
      return await new Promise<T>((resolve, reject) => {
        const run = (isFirst: boolean) => transact(async (tx) => {
          allowSharedWork(tx);
          const value = await fn(tx);
          // With no other write to share it, its own transaction does the work: a second one would cost as much as the write.
          if (isFirst && queue.length === 0) await takeSharedWork([tx])?.(tx);
          return value;
        }, options, isFirst);
        queue.push({ run, resolve: resolve as (value: unknown) => void, reject, since: performance.now() });
        working ??= work();
      });
    },
    async close() {
      closed = true;
      await working;
    },
  };
}

function isStorageProblem(error: unknown): boolean {
  return problemData(error)?.code.startsWith('storage_') ?? false;
}

/** Remembers whether the storage refused the last write. */
function checkingStorage({ write, close }: UncheckedWriter): Writer {
  let isRefusing = false;

  async function checked<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T> {
    try {
      const value = await write(fn, options);
      isRefusing = false;
      return value;
    } catch (error) {
      if (isStorageProblem(error)) isRefusing = true;
      throw error;
    }
  }
  return {
    write: checked,
    async checkStorage() { if (isRefusing) await checked(tryStorage); },
    close,
  };
}

/** Changes a page and leaves nothing behind. */
async function tryStorage(tx: Tx): Promise<void> {
  await tx('core_meta').insert({ key: 'storage_check', value: '"x"' }).onConflict('key').ignore();
  await tx('core_meta').where({ key: 'storage_check' }).delete();
}

/** Runs each write in its own transaction, and retries it after a deadlock or serialization failure. */
export function createTransactionWriter(knex: Knex, settings: WriterSettings): Writer {
  return checkingStorage(transactionWriter(knex, settings));
}

function transactionWriter(knex: Knex, settings: WriterSettings): UncheckedWriter {
  const running = new Set<Promise<unknown>>();
  let closed = false;

  async function attempt<T>(fn: (tx: Tx) => Promise<T>, options: WriteOptions): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      const done = await runTransaction(knex, fn, settings, options, {});
      if (!(done instanceof FailedWrite)) {
        done.announce();
        return done.value;
      }
      if (!isRetryable(done.error) || attempts === ATTEMPTS) throw done.error;
      await sleep(Math.random() * 10 * 2 ** attempts);
    }
  }

  return {
    async write(fn, options = {}) {
      settings.strictness.check('db.write');
      if (closed) refuseClosed();
      const answer = attempt(fn, options);
      running.add(answer);
      try {
        return await answer;
      } finally {
        running.delete(answer);
      }
    },
    async close() {
      closed = true;
      await Promise.allSettled(running);
    },
  };
}
