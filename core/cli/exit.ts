import { databaseProblems } from '../database/errors.ts';
import { problemData } from '../problems.ts';
import { Failure, Misuse, type Terminal } from './command.ts';

/** Runs a command's work and turns what it throws into words and an exit code: 0 done, 1 failed, 2 wrong usage. */
export async function exitCodeOf(work: () => Promise<number | void>, terminal: Terminal): Promise<number> {
  try {
    return (await work()) ?? 0;
  } catch (error) {
    if (error instanceof Misuse) {
      terminal.err(error.message);
      return 2;
    }
    terminal.err(failureWords(error, terminal));
    return 1;
  }
}

/** The system's own refusal of a file or folder: a fault of neither. */
function isRefusedPath(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '') && 'path' in error;
}

/** A failure is meant for the person at the keyboard, and so is a database that is away or full; anything else is a fault of ours and keeps its stack. */
function failureWords(error: unknown, terminal: Terminal): string {
  if (error instanceof Failure) return terminal.style('red', error.message);
  if (isRefusedPath(error)) return terminal.style('red', `${error.path} cannot be written: ${error.message}`);
  const { code, cause } = problemData(error) ?? {};
  if (code && code in databaseProblems) return terminal.style('red', `${databaseProblems[code]!.title} (${(cause as Error).message}). The change under way was not stored; bin/civic doctor says more.`);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
