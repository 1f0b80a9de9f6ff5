import { join } from 'node:path';
import { Failure } from '../cli/command.ts';
import type { Logger } from '../log.ts';
import { describeFault, fullDiskFault, makeDataFolder } from './folder.ts';
import { makePrivateFile } from './private.ts';
import type { SqliteDriver } from './sqlite/driver.ts';

export interface WriterLock {
  /** Whether the thread that held the lock has ended: another process may hold it now. */
  readonly isLost: boolean;
  release(): Promise<void>;
}

/**
 * Makes this process the one that writes the SQLite file of `dataDir`, until it is released or the process ends.
 * It is a lock of the operating system, held by an open transaction on `writer.lock`: a killed process leaves none behind.
 */
export async function takeWriterLock(dataDir: string, driver: SqliteDriver, log: Logger): Promise<WriterLock> {
  makeDataFolder(dataDir);
  makePrivateFile(lockFile(dataDir));
  const onLost = (error: Error) => log.error({ err: error }, 'The lock of the data folder was lost, so another process could write the database: writes are refused until the server is restarted');
  const connection = await driver.open(lockFile(dataDir), onLost).catch((error: Error) => {
    throw new Failure(lockFault(dataDir, error));
  });
  try {
    await connection.all('pragma busy_timeout = 0');
    await connection.run('BEGIN EXCLUSIVE');
  } catch (error) {
    await connection.close();
    throw new Failure(lockFault(dataDir, error as Error));
  }
  return {
    get isLost() { return connection.isLost; },
    release: () => connection.close(),
  };
}

function lockFault(dataDir: string, error: Error & { code?: string }): string {
  if (error.code === 'SQLITE_BUSY') return `Another civic process is running on the data folder ${dataDir}. Stop it first, or use another folder with --data.`;
  const full = fullDiskFault(dataDir);
  return `The data folder ${dataDir} cannot be locked: ${full ? describeFault(full) : error.message}`;
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'writer.lock');
}
