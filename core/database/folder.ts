import { accessSync, constants, existsSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Failure, shellWord } from '../cli/command.ts';
import { closeToOthers, PRIVATE_FOLDER } from './private.ts';

/** Why a file, folder or port cannot be used, and what to do about it. */
export interface Fault {
  detail: string;
  fix: string;
}

/** The folder itself, or the nearest one above it that exists. */
export function existingFolder(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || path === dirname(path) ? path : existingFolder(dirname(path));
}

export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

const elsewhere = 'choose another folder with --data or data_dir';

/** Returns why a folder can be neither written nor created; null when it can. */
export function folderFault(folder: string): Fault | null {
  const place = existingFolder(folder);
  if (!statSync(place).isDirectory()) return { detail: `${place} is a file where a folder is expected`, fix: elsewhere };
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return { detail: `${place} is on a disk that is mounted read-only`, fix: `mount it for writing, or ${elsewhere}` };
    if (code !== 'EACCES' && code !== 'EPERM') return { detail: message, fix: elsewhere };
    return permissionFault(resolve(folder), place);
  }
}

/** A folder above the data folder, or one that holds other files, keeps its owner: other programs depend on it. */
function permissionFault(folder: string, place: string): Fault {
  const user = userName();
  const create = (path: string): string => `install -d -o ${shellWord(user)} -m 700 ${shellWord(path)}`;
  if (place !== folder) return { detail: `${folder} does not exist, and this user (${user}) may not create it in ${place}`, fix: `create it as root with ${create(folder)}, or ${elsewhere}` };
  const detail = `${folder} may not be written by this user (${user})`;
  if (holdsOtherFiles(folder)) return { detail: `${detail} and holds other files`, fix: `create a folder of its own as root with ${create(join(folder, 'civic'))}, and name it with --data or data_dir` };
  return { detail, fix: `give it to this user as root with chown -R ${shellWord(user)} ${shellWord(folder)} if it holds this instance alone, or ${elsewhere}` };
}

function holdsOtherFiles(folder: string): boolean {
  try {
    const names = readdirSync(folder);
    return names.length > 0 && !names.includes('writer.lock') && !names.some((name) => name.endsWith('.db'));
  } catch {
    return false;
  }
}

// A write needs more than the last page: its log, and the index of that.
const LEAST_FREE_BYTES = 256 * 1024;

/** Reports a disk without room for another write; null when there is room. */
export function fullDiskFault(folder: string): Fault | null {
  const { blocks, bfree, bavail, bsize } = statfsSync(existingFolder(folder));
  // Some blocks are reserved for root.
  const free = (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  return blocks > 0 && free < LEAST_FREE_BYTES ? { detail: `the disk of ${folder} is full`, fix: 'make room there, then start again' } : null;
}

/** Rejects a folder that can be neither written nor created. */
export function checkDataFolder(folder: string): void {
  const fault = folderFault(folder);
  if (fault) throw new Failure(`The data folder ${folder} cannot be used: ${describeFault(fault)}`);
}

export function describeFault({ detail, fix }: Fault): string {
  return `${detail}.\nTo fix it, ${fix}.`;
}

/** Creates the data folder for this user alone, or reports why it cannot be used. */
export function makeDataFolder(folder: string): void {
  checkDataFolder(folder);
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  closeToOthers(folder);
}
