import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../core/test/processes.ts';

// Linux keeps this folder in memory. Tests create and delete thousands of files, and SQLite waits for the disk at each commit.
const FOLDER = '/dev/shm';
const NAME = /^civic-files-(\d+)-/;
/** Several times what the databases, copies of the kit and browser profiles of a run take. */
const ROOM_BYTES = 4 * 2 ** 30;

/** Keeps the temporary files of this run in memory where there is room, until the process exits. A given TMPDIR is kept. */
export function keepFilesInMemory(): void {
  if (process.env.TMPDIR || !existsSync(FOLDER)) return;
  removeStale();
  if (!hasRoomInMemory()) return;
  const own = mkdtempSync(join(FOLDER, `civic-files-${process.pid}-`));
  // Postgres runs as another user, which deletes its own folder.
  chmodSync(own, 0o1777);
  process.env.TMPDIR = own;
  process.once('exit', () => { remove(own); });
}

export function hasRoomInMemory(): boolean {
  if (!existsSync(FOLDER)) return false;
  const { bavail, bsize } = statfsSync(FOLDER);
  return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES;
}

/** Removes the files of runs that were killed. */
function removeStale(): void {
  for (const name of readdirSync(FOLDER)) {
    const pid = NAME.exec(name)?.[1];
    if (pid && !isRunning(Number(pid))) remove(join(FOLDER, name));
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // Files of another user, which another run removes.
  }
}
