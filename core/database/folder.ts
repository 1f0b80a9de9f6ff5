import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { Failure } from '../cli/command.ts';
import { closeToOthers, PRIVATE_FOLDER } from './private.ts';

/** Why nothing can be written into a folder, and what to do about it. */
export interface FolderFault {
  detail: string;
  fix: string;
}

/** The folder itself, or the nearest one above it that exists. */
export function existingFolder(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || path === dirname(path) ? path : existingFolder(dirname(path));
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

/** Null when it can be written to, or made. */
export function folderFault(folder: string): FolderFault | null {
  const place = existingFolder(folder);
  const elsewhere = 'choose another folder with --data or data_dir';
  if (!statSync(place).isDirectory()) return { detail: `${place} is a file where a folder is expected`, fix: elsewhere };
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return { detail: `${place} is on a disk that is mounted read-only`, fix: `mount it for writing, or ${elsewhere}` };
    if (code !== 'EACCES' && code !== 'EPERM') return { detail: message, fix: elsewhere };
    return { detail: `${place} may not be written by this user (${userName()})`, fix: `make it theirs (chown -R ${userName()} ${place}), or ${elsewhere}` };
  }
}

// A write needs more than the last page: its log, and the index of that.
const LEAST_FREE_BYTES = 256 * 1024;

/** Reports a disk without room for another write; null when there is room. */
export function fullDiskFault(folder: string): FolderFault | null {
  const { blocks, bfree, bavail, bsize } = statfsSync(existingFolder(folder));
  // Some blocks are reserved for root.
  const free = (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  return blocks > 0 && free < LEAST_FREE_BYTES ? { detail: `the disk of ${folder} is full`, fix: 'make room there, then start again' } : null;
}

/** Creates the data folder for this user alone, or reports why it cannot be used. */
export function makeDataFolder(folder: string): void {
  const fault = folderFault(folder);
  if (fault) throw new Failure(`The data folder ${folder} cannot be used: ${fault.detail}.\nTo mend it, ${fault.fix}.`);
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  closeToOthers(folder);
}
