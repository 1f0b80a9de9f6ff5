import { dirname, join } from 'node:path';
import { Failure } from '../cli/command.ts';
import type { Logger } from '../log.ts';
import { databaseProblem } from './errors.ts';
import { fullDiskFault } from './folder.ts';
import type { WriterLock } from './lock.ts';
import { copyPostgres, copySqlite, deleteSqlite, dropPostgres } from './scratch.ts';
import { openSqlite } from './sqlite.ts';
import { chooseDriver, type ChosenDriver, type DriverChoice } from './sqlite/choose.ts';
import { createStrictness, lenient } from './strict.ts';
import type { Database, Tx } from './types.ts';
import { createGroupWriter, createTransactionWriter, type WriteOptions } from './write.ts';

export interface DatabaseOptions {
  /** Null or `sqlite:<path>` for SQLite, `postgres://…` for PostgreSQL. */
  url: string | null;
  /** Holds `civic.db` when there is no url. */
  dataDir: string;
  /** Connections to PostgreSQL. */
  pool: number;
  /** The driver of SQLite; `auto` by default. */
  driver?: DriverChoice;
  log: Logger;
  /** Held by this process, which then writes SQLite only as long as it is not lost. */
  lock?: WriterLock | null;
  /** Makes `db.read`, `db.write` and `db.snapshot` throw inside `db.write` and `db.snapshot`; on in tests. */
  strict?: boolean;
}

/** The database as core holds it. Plugins see it as `Database`. */
export interface OpenDatabase extends Database {
  /** The driver of SQLite; null on Postgres. */
  driver: ChosenDriver | null;
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Hears what is sent with `pg_notify`; connects again by itself. Hears nothing on SQLite, where one process does everything. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  /** Runs `fn` while no other node runs one of the same name. */
  exclusively<T>(name: string, fn: () => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  /** Runs code that must not write. In tests `write` then throws an error that names the code. */
  readOnly<T>(where: string, fn: () => Promise<T>): Promise<T>;
  /** Rejects while writes are refused, such as on a full disk. */
  checkWritable(): Promise<void>;
  /** Starts detection: from then on queries fail with `database_unavailable` when the database server does not respond, within 5 s. */
  failWhenSilent(): void;
  /** Lets writes that wait finish, then closes every connection. */
  close(): Promise<void>;
}

export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const { url } = options;
  if (url === null || url.startsWith('sqlite:')) {
    const file = url?.slice('sqlite:'.length) ?? join(options.dataDir, 'civic.db');
    return sqliteDatabase(file, await chooseDriver(options.driver ?? 'auto'), options);
  }
  if (/^postgres(ql)?:\/\//.test(url)) return postgresDatabase(url, options);
  throw new Failure('database.url must start with postgres:// or sqlite:');
}

async function sqliteDatabase(file: string, chosen: ChosenDriver, options: DatabaseOptions): Promise<OpenDatabase> {
  const settings = { log: options.log, strictness: options.strict ? createStrictness() : lenient };
  const { strictness } = settings;
  const pools = await openSqlite(chosen.driver, file, settings);
  const writer = createGroupWriter(pools, settings);
  return {
    dialect: 'sqlite',
    driver: chosen,
    read: pools.readers,
    async write(fn, writeOptions) {
      if (options.lock?.isLost) throw databaseProblem('database_unavailable');
      return await writer.write(fn, writeOptions);
    },
    readOnly: strictness.readOnly,
    async snapshot(fn) {
      strictness.check('db.snapshot');
      return await pools.readers.transaction((tx) => strictness.inside('db.snapshot', tx, fn));
    },
    async scratch(_prefix, fn) {
      const copy = await copySqlite(chosen.driver, file);
      try {
        return await using(await sqliteDatabase(copy, chosen, options), fn);
      } finally {
        await deleteSqlite(copy);
      }
    },
    listen: async () => async () => undefined,
    exclusively: (_name, fn) => fn(),
    async ping() {
      await pools.readers.raw('select 1');
    },
    async checkWritable() {
      if (pools.writing.isLost || options.lock?.isLost) throw databaseProblem('database_unavailable');
      pools.checkFile();
      if (fullDiskFault(dirname(file))) throw databaseProblem('storage_full');
      await writer.checkStorage();
    },
    failWhenSilent: () => undefined,
    async close() {
      await writer.close();
      await pools.close();
    },
  };
}

async function using<T>(database: OpenDatabase, fn: (database: OpenDatabase) => Promise<T>): Promise<T> {
  try {
    return await fn(database);
  } finally {
    await database.close();
  }
}

/** Time for the server to end its connections when the database is closed. */
const CLOSE_MS = 2000;

async function postgresDatabase(url: string, options: DatabaseOptions, searchPath?: string[]): Promise<OpenDatabase> {
  // An instance on SQLite never pays for the driver.
  const { connectSession, endSession, openPostgres } = await import('./postgres.ts');
  const { createListener } = await import('./listen.ts');
  const settings = { log: options.log, strictness: options.strict ? createStrictness() : lenient };
  const { strictness } = settings;
  const { knex: pool, silence, connect, disconnect } = await openPostgres(url, options.pool, settings, searchPath);
  const writer = createTransactionWriter(pool, settings);
  const listener = createListener(connect, options.log);
  return {
    dialect: 'postgres',
    driver: null,
    read: pool,
    write: writer.write,
    readOnly: strictness.readOnly,
    async snapshot(fn) {
      strictness.check('db.snapshot');
      return await pool.transaction((tx) => strictness.inside('db.snapshot', tx, fn), { isolationLevel: 'repeatable read', readOnly: true });
    },
    async scratch(prefix, fn) {
      const schemas = await copyPostgres(pool, prefix);
      try {
        return await using(await postgresDatabase(url, options, schemas), fn);
      } finally {
        await dropPostgres(pool, schemas[0]!);
      }
    },
    listen: listener.listen,
    async exclusively(name, fn) {
      const session = await connectSession(url);
      try {
        await session.query('select pg_advisory_lock(hashtextextended($1, 0))', [`civic ${name}`]);
        return await fn();
      } finally {
        await endSession(session);
      }
    },
    async ping() {
      await pool.raw('select 1');
    },
    checkWritable: writer.checkStorage,
    failWhenSilent: silence.start,
    async close() {
      await writer.close();
      // A server that does not respond ends no connection.
      const timer = setTimeout(disconnect, CLOSE_MS);
      await listener.close();
      await pool.destroy();
      clearTimeout(timer);
      silence.stop();
      disconnect();
    },
  };
}
