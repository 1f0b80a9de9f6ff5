import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { Failure } from '../cli/command.ts';
import { execute } from './sqlite.ts';

export interface WriterLock {
  release(): Promise<void>;
}

/**
 * Makes this process the one that writes the SQLite file of `dataDir`, until it is released or the process ends.
 * It is a lock of the operating system, held by an open transaction on `writer.lock`: a killed process leaves none behind.
 */
export async function takeWriterLock(dataDir: string): Promise<WriterLock> {
  const connection = await openLock(dataDir).catch(() => {
    throw new Failure(`The data folder ${dataDir} cannot be made or written (permissions, or a read-only disk). Name another one with --data.`);
  });
  const close = () => new Promise<void>((resolve) => connection.close(() => resolve()));
  try {
    await execute(connection, 'pragma busy_timeout = 0');
    await execute(connection, 'BEGIN EXCLUSIVE');
  } catch (error) {
    await close();
    const isHeld = (error as { code?: string }).code === 'SQLITE_BUSY';
    throw new Failure(isHeld
      ? `Another civic process is running on the data folder ${dataDir}. Stop it first, or use another folder with --data.`
      : `The data folder ${dataDir} cannot be locked: ${(error as Error).message}`);
  }
  return { release: close };
}

async function openLock(dataDir: string): Promise<sqlite3.Database> {
  await mkdir(dataDir, { recursive: true });
  return await new Promise((resolve, reject) => {
    const opening = new sqlite3.Database(join(dataDir, 'writer.lock'), (error) => (error ? reject(error) : resolve(opening)));
  });
}
