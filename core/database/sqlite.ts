import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import knex, { type Knex } from 'knex';
import type { Logger } from '../log.ts';
import { databaseProblem, driverError } from './errors.ts';
import { DatabaseFileFailure } from './file.ts';
import { closeToOthers, makePrivateFile, PRIVATE_FOLDER } from './private.ts';
import { knexLog, type OpenSettings } from './settings.ts';
import { ReaderClient, SqliteClient, type ClientSettings } from './sqlite/client.ts';
import type { SqliteConnection, SqliteDriver } from './sqlite/driver.ts';

const READERS = 3;
// Pages are moved from the log to the file every 16 MB: an import dirties the same index pages again and again.
const PRAGMAS = { journal_mode: 'wal', synchronous: 2, busy_timeout: 5000, foreign_keys: 1, cache_size: -16384, wal_autocheckpoint: 4000 };

async function pragma(connection: SqliteConnection, text: string): Promise<unknown> {
  const [row = {}] = await connection.all(`pragma ${text}`);
  return Object.values(row)[0];
}

async function openConnection(driver: SqliteDriver, file: string, pragmas: Record<string, string | number>, onLost: (error: Error) => void): Promise<SqliteConnection> {
  const connection = await driver.open(file, onLost);
  try {
    await pragma(connection, `busy_timeout = ${PRAGMAS.busy_timeout}`);
    for (const [name, value] of Object.entries(pragmas)) {
      await pragma(connection, `${name} = ${value}`);
      const actual = await pragma(connection, name);
      if (actual !== value) throw new Error(`SQLite keeps ${name} at ${actual} instead of ${value}`);
    }
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function createKnex(client: typeof SqliteClient, file: string, size: number, { log, strictness }: OpenSettings, open: ClientSettings['open']): Knex {
  const config = { client, open, strictness, log: knexLog(log), connection: { filename: file }, useNullAsDefault: true, compileSqlOnError: false, pool: { min: size, max: size }, acquireConnectionTimeout: 30_000 };
  return knex(config as unknown as Knex.Config);
}

export interface SqlitePools {
  /** Builds the queries of writes; every write gives it the connection. */
  writer: Knex;
  /** The one connection that writes, held as long as the database is open. */
  writing: SqliteConnection;
  readers: Knex;
  /** Throws when the file was deleted or replaced since it was opened: SQLite would write to a file that no later start finds. */
  checkFile(): void;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Opens a SQLite file: one connection that writes and three that only read. */
export async function openSqlite(driver: SqliteDriver, file: string, settings: OpenSettings): Promise<SqlitePools> {
  const writer = createKnex(SqliteClient, file, 0, settings, () => Promise.reject(new Error('A write uses the connection of its group')));
  const readers = createKnex(ReaderClient, file, READERS, settings, () => openConnection(driver, file, { ...PRAGMAS, query_only: 1 }, (error) => settings.log.error({ err: error }, 'A connection that reads the database was lost; the next read opens another')));
  let writing: SqliteConnection | null = null;
  try {
    await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
    // SQLite gives its other files the mode of this one.
    makePrivateFile(file);
    // SQLite opens a file that it may not write, and fails at the first write.
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    for (const suffix of ['-wal', '-shm']) closeToOthers(file + suffix);
    const connection = writing = await openConnection(driver, file, PRAGMAS, (error) => settings.log.error({ err: error }, 'The connection that writes the database was lost: writes are refused until the server is restarted'));
    const opened = await Promise.all(Array.from({ length: READERS }, () => readers.client.acquireConnection()));
    for (const reader of opened) await readers.client.releaseConnection(reader);
    return { writer, writing, readers, checkFile: fileCheck(file, settings.log), close: () => closeAll(readers, connection) };
  } catch (error) {
    await closeAll(readers, writing);
    throw new DatabaseFileFailure(file, driverError(error));
  }
}

/** Compares inodes, as SQLite itself does except with a write-ahead log. The inode of an open file is not used again. */
function fileCheck(file: string, log: Logger): () => void {
  const inode = inodeOf(file);
  let isReported = false;
  return () => {
    const hasMoved = inodeOf(file) !== inode;
    if (hasMoved && !isReported) log.error(`The database file ${file} was deleted or replaced: writes are refused until the file is back or the server is restarted`);
    isReported = hasMoved;
    if (hasMoved) throw databaseProblem('storage_failed', new Error(`${file} was deleted or replaced`));
  };
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

/** The writer last: closing the last connection moves the log into the file. */
async function closeAll(readers: Knex, writing: SqliteConnection | null): Promise<void> {
  await readers.destroy();
  await writing?.close();
}
