import { chmodSync, closeSync, lstatSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { parse, resolve } from 'node:path';

export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;
const OTHERS = 0o077;
const STICKY = 0o1000;

/** Whether users other than the owner may access a file or folder. False when it does not exist, and on systems without modes. */
export function isOpenToOthers(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return process.getuid !== undefined && stat !== undefined && !stat.isSymbolicLink() && (stat.mode & OTHERS) !== 0;
}

/** Removes the access of other users from a file or folder of this user. One of another user stays as it is; `doctor` reports it. */
export function closeToOthers(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || !isOpenToOthers(path) || stat.uid !== process.getuid!() || isShared(path, stat.mode)) return;
  chmodSync(path, stat.mode & 0o777 & ~OTHERS);
}

/** A folder that holds more than an instance: the root, a home, or one such as /tmp. */
function isShared(path: string, mode: number): boolean {
  const folder = resolve(path);
  return (mode & STICKY) !== 0 || folder === parse(folder).root || folder === homedir();
}

/** Creates an empty file for this user alone, or closes an existing one to others. A file that cannot be created is reported by its reader. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE));
  } catch (error) {
    // Not opened: closing a second descriptor would drop the locks that SQLite holds on the file.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') closeToOthers(path);
  }
}
