import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import knex, { type Knex } from 'knex';
import { cleanError, driverError } from './errors.ts';
import { DatabaseFileFailure } from './file.ts';
import { closeToOthers, makePrivateFile, PRIVATE_FOLDER } from './private.ts';
import { knexLog, type OpenSettings } from './settings.ts';
import { keepStatements } from './statements.ts';
import type { Strictness } from './strict.ts';

const READERS = 3;
// Pages are moved from the log to the file every 16 MB: an import dirties the same index pages again and again.
const PRAGMAS = { journal_mode: 'wal', synchronous: 2, busy_timeout: 5000, foreign_keys: 1, cache_size: -16384, wal_autocheckpoint: 4000 };

/** A connection of the sqlite3 driver, as far as it is used here. */
export interface SqliteConnection {
  serialize(): void;
  run(sql: string, done: (error: Error | null) => void): void;
  all(sql: string, done: (error: Error | null, rows: Record<string, unknown>[]) => void): void;
}

// Knex has no types for its dialects; these are the members that are replaced.
interface Transaction {
  txid: string;
  userParams?: { isFirst?: boolean };
  _completed: boolean;
  _resolver(value: unknown): void;
  _rejecter(error: unknown): void;
  savepoint(connection: unknown): Promise<unknown>;
  release(connection: unknown, value: unknown): Promise<unknown>;
  rollbackTo(connection: unknown, error: unknown): Promise<unknown>;
}
interface Client {
  config: Knex.Config & { strictness: Strictness };
  acquireRawConnection(): Promise<SqliteConnection>;
  acquireConnection(): Promise<unknown>;
  query(connection: unknown, query: unknown): Promise<unknown>;
  transaction(...parameters: unknown[]): unknown;
}
const require = createRequire(import.meta.url);
const SqliteClient = require('knex/lib/dialects/sqlite3/index.js') as new (config: Knex.Config) => Client;
const SqliteTransaction = require('knex/lib/dialects/sqlite3/execution/sqlite-transaction.js') as new (...parameters: unknown[]) => Transaction;

export function execute(connection: SqliteConnection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => connection.run(sql, (error) => (error ? reject(error) : resolve())));
}

function pragma(connection: SqliteConnection, text: string): Promise<unknown> {
  return new Promise((resolve, reject) => connection.all(`pragma ${text}`, (error, rows) => (error ? reject(error) : resolve(Object.values(rows[0] ?? {})[0]))));
}

async function setPragmas(connection: SqliteConnection, pragmas: Record<string, string | number>): Promise<void> {
  // The driver starts statements in parallel otherwise: one sent before a rollback could run after it.
  connection.serialize();
  keepStatements(connection);
  await pragma(connection, `busy_timeout = ${PRAGMAS.busy_timeout}`);
  for (const [name, value] of Object.entries(pragmas)) {
    await pragma(connection, `${name} = ${value}`);
    const actual = await pragma(connection, name);
    if (actual !== value) throw new Error(`SQLite keeps ${name} at ${actual} instead of ${value}`);
  }
}

class WriterClient extends SqliteClient {
  override async acquireRawConnection(): Promise<SqliteConnection> {
    const connection = await super.acquireRawConnection();
    await setPragmas(connection, PRAGMAS);
    return connection;
  }

  override async query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super.query(connection, query);
    } catch (error) {
      throw cleanError(error);
    }
  }

  override transaction(...parameters: unknown[]): unknown {
    return new SavepointTransaction(this, ...parameters);
  }
}

/** A transaction inside the group's own: it begins and ends with a savepoint. The first has nothing before it to save. */
class SavepointTransaction extends SqliteTransaction {
  async begin(connection: unknown): Promise<unknown> {
    if (this.userParams?.isFirst) return;
    // Knex would count them; by one name their statements are kept. Of several of a name SQLite means the innermost.
    this.txid = 'a_write';
    return this.savepoint(connection);
  }
  async commit(connection: unknown, value: unknown): Promise<unknown> {
    return this.userParams?.isFirst ? this.end(() => this._resolver(value)) : this.release(connection, value);
  }
  async rollback(connection: unknown, error: unknown): Promise<unknown> {
    return this.userParams?.isFirst ? this.end(() => this._rejecter(error)) : this.rollbackTo(connection, error);
  }
  private end(tell: () => void): void {
    this._completed = true;
    tell();
  }
}

class ReaderClient extends SqliteClient {
  override async acquireRawConnection(): Promise<SqliteConnection> {
    const connection = await super.acquireRawConnection();
    await setPragmas(connection, { ...PRAGMAS, query_only: 1 });
    return connection;
  }

  override async acquireConnection(): Promise<unknown> {
    this.config.strictness.check('db.read');
    try {
      return await super.acquireConnection();
    } catch (error) {
      throw cleanError(error);
    }
  }

  override async query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super.query(connection, query);
    } catch (error) {
      if ((error as { code?: string }).code === 'SQLITE_READONLY') throw new Error('db.read only reads: use db.write to change data', { cause: error });
      throw cleanError(error);
    }
  }
}

function openPool(client: typeof WriterClient, file: string, size: number, { log, strictness }: OpenSettings): Knex {
  const config = { client, strictness, log: knexLog(log), connection: { filename: file }, useNullAsDefault: true, compileSqlOnError: false, pool: { min: size, max: size }, acquireConnectionTimeout: 30_000 };
  return knex(config as unknown as Knex.Config);
}

export interface SqlitePools {
  writer: Knex;
  /** The one connection that writes, held as long as the database is open. */
  writing: SqliteConnection;
  readers: Knex;
}

/** Opens a SQLite file: one connection that writes and three that only read. */
export async function openSqlite(file: string, settings: OpenSettings): Promise<SqlitePools> {
  const writer = openPool(WriterClient, file, 1, settings);
  const readers = openPool(ReaderClient as typeof WriterClient, file, READERS, settings);
  try {
    await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
    // SQLite gives its other files the mode of this one.
    makePrivateFile(file);
    // SQLite opens a file that it may not write, and fails at the first write.
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    for (const suffix of ['-wal', '-shm']) closeToOthers(file + suffix);
    const writing = (await writer.client.acquireConnection()) as SqliteConnection;
    const opened = await Promise.all(Array.from({ length: READERS }, () => readers.client.acquireConnection()));
    for (const connection of opened) await readers.client.releaseConnection(connection);
    return { writer, writing, readers };
  } catch (error) {
    await Promise.all([writer.destroy(), readers.destroy()]);
    throw new DatabaseFileFailure(file, driverError(error));
  }
}
