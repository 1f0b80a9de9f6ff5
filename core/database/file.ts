import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure, shellWord } from '../cli/command.ts';
import { call } from '../program.ts';
import type { DriverError } from './errors.ts';
import { describeFault, folderFault, fullDiskFault, userName, type Fault } from './folder.ts';

/** A database file that cannot be opened. `doctor` shows the two parts of the message by themselves. */
export class DatabaseFileFailure extends Failure {
  readonly detail: string;
  readonly fix: string | undefined;

  constructor(file: string, error: DriverError) {
    const fault = fileFault(error, file);
    const detail = `The database file ${file} cannot be opened: ${fault?.detail ?? error.message}`;
    super(fault ? describeFault({ ...fault, detail }) : detail);
    this.detail = detail;
    this.fix = fault?.fix;
  }
}

function fileFault(error: DriverError, file: string): Fault | null {
  const fault = folderFault(dirname(file)) ?? (/FULL|IOERR/.test(error.code ?? '') ? fullDiskFault(dirname(file)) : null);
  if (fault) return fault;
  switch (error.code) {
    case 'SQLITE_NOTADB': return { detail: 'it is not an SQLite database', fix: replaceCommand(file) };
    case 'SQLITE_CORRUPT': return { detail: 'it is damaged', fix: replaceCommand(file) };
    case 'EACCES':
    case 'SQLITE_CANTOPEN': return statSync(file, { throwIfNoEntry: false })?.isDirectory() ? { detail: 'it is a folder', fix: 'name a file with database.url, or move the folder away' } : permissionFault(file, 'read and written');
    case 'SQLITE_READONLY': return permissionFault(file, 'written');
    case 'SQLITE_BUSY': return { detail: 'another program holds it', fix: `stop that program (fuser ${shellWord(file)} prints its process id)` };
    default: return null;
  }
}

function permissionFault(file: string, access: string): Fault {
  const user = userName();
  const files = [file, `${file}-wal`, `${file}-shm`].filter((path) => existsSync(path));
  const words = (paths: string[]): string => paths.map(shellWord).join(' ');
  const foreign = files.filter((path) => statSync(path).uid !== process.getuid?.());
  const fix = foreign.length > 0 ? `chown ${shellWord(user)} ${words(foreign)} as root, then chmod 600 ${words(files)}` : `chmod 600 ${words(files)}`;
  return { detail: `it may not be ${access} by this user (${user})`, fix };
}

function replaceCommand(file: string): string {
  const aside = shellWord(join(dirname(file), 'damaged'));
  return `stop the server, run mkdir ${aside} && mv ${shellWord(file)}* ${aside}, then ${call('restore')} <backup folder>`;
}
