import { databaseProblems } from '../database/errors.ts';
import { problemData } from '../problems.ts';
import { Failure, type Terminal } from './command.ts';

/** The system's own refusal of a file or folder: a fault of neither. */
function isRefusedPath(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '') && 'path' in error;
}

/** A failure is meant for the person at the keyboard, and so is a database that is away or full; anything else is a fault of ours and keeps its stack. */
export function failureText(error: unknown, terminal: Terminal): string {
  if (error instanceof Failure) return terminal.style('red', error.message);
  if (isRefusedPath(error)) return terminal.style('red', `${error.path} cannot be written: ${error.message}`);
  const { code, cause } = problemData(error) ?? {};
  if (code && code in databaseProblems) return terminal.style('red', `${databaseProblems[code]!.title} (${(cause as Error).message}). The change under way was not stored; bin/civic doctor says more.`);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
