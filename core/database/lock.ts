import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { Failure } from '../cli/command.ts';
import { describeFault, fullDiskFault, makeDataFolder } from './folder.ts';
import { makePrivateFile } from './private.ts';
import { execute } from './sqlite.ts';

export interface WriterLock {
  release(): Promise<void>;
}

/**
 * Makes this process the one that writes the SQLite file of `dataDir`, until it is released or the process ends.
 * It is a lock of the operating system, held by an open transaction on `writer.lock`: a killed process leaves none behind.
 */
export async function takeWriterLock(dataDir: string): Promise<WriterLock> {
  makeDataFolder(dataDir);
  makePrivateFile(lockFile(dataDir));
  const connection = await openLock(dataDir).catch((error: Error) => {
    throw new Failure(lockFault(dataDir, error));
  });
  const close = () => new Promise<void>((resolve) => connection.close(() => resolve()));
  try {
    await execute(connection, 'pragma busy_timeout = 0');
    await execute(connection, 'BEGIN EXCLUSIVE');
  } catch (error) {
    await close();
    throw new Failure(lockFault(dataDir, error as Error));
  }
  return { release: close };
}

function lockFault(dataDir: string, error: Error & { code?: string }): string {
  if (error.code === 'SQLITE_BUSY') return `Another civic process is running on the data folder ${dataDir}. Stop it first, or use another folder with --data.`;
  const full = fullDiskFault(dataDir);
  return `The data folder ${dataDir} cannot be locked: ${full ? describeFault(full) : error.message}`;
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'writer.lock');
}

async function openLock(dataDir: string): Promise<sqlite3.Database> {
  return await new Promise((resolve, reject) => {
    const opening = new sqlite3.Database(lockFile(dataDir), (error) => (error ? reject(error) : resolve(opening)));
  });
}
