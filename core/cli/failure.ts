import { join, sep } from 'node:path';
import { databaseProblems } from '../database/errors.ts';
import { problemData } from '../problems.ts';
import { call } from '../program.ts';
import { projectRoot } from '../root.ts';
import { Failure, type Terminal } from './command.ts';

/** Returns whether the system rejected access to a file or folder, which is a bug of neither core nor a plugin. */
function isRefusedPath(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '') && 'path' in error;
}

/** Returns whether a module of this build is gone: another build replaced it after this process started. */
function isReplacedModule(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${join(projectRoot, 'dist')}${sep}`);
}

/** Returns the text that the command line shows. Failures and unavailable or full databases are for the operator; any other error is a bug and has its stack. */
export function failureText(error: unknown, terminal: Terminal): string {
  if (error instanceof Failure) return terminal.style('red', error.message);
  if (isRefusedPath(error)) return terminal.style('red', `${error.path} cannot be written: ${error.message}`);
  if (isReplacedModule(error)) return terminal.style('red', 'The server runs a build that another one has replaced since its start. Restart it and run the command again.');
  const { code, cause } = problemData(error) ?? {};
  if (code && code in databaseProblems) return terminal.style('red', `${databaseProblems[code]!.title}${cause instanceof Error ? ` (${cause.message})` : ''}. The change under way was not stored; ${call('doctor')} says more.`);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
