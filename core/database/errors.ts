import { problem, registerProblems, type ProblemKinds } from '../problems.ts';
import { THREAD_ENDED } from './sqlite/driver.ts';

// Any route may meet them, so every operation lists them. All are 503: what clients and proxies know how to wait for.
export const databaseProblems: ProblemKinds = {
  database_busy: { status: 503, anywhere: true, title: 'The database is busy', advice: 'Try again after the time in Retry-After. If it goes on, the operator looks for another program that holds the database.' },
  database_unavailable: { status: 503, anywhere: true, title: 'The database does not answer', advice: 'Try again after the time in Retry-After. The operator checks that the database server runs and can be reached.' },
  storage_full: { status: 503, anywhere: true, title: 'The disk is full', advice: 'Nothing was stored. The operator makes room on the disk; the service then works again by itself.' },
  storage_failed: { status: 503, anywhere: true, title: 'The disk cannot be written or read', advice: 'Nothing was stored. The operator looks at the log and at the disk that holds the database.' },
};

registerProblems(databaseProblems);

/** What drivers put on their errors. `detail`, `where` and `internalQuery` hold values of rows. */
export interface DriverError extends Error {
  code?: string;
  detail?: string;
  where?: string;
  internalQuery?: string;
  hint?: string;
}

const SQLITE_STORAGE = new Set(['SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_NOTADB']);
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT']);
const POSTGRES_AWAY = /^(08...|57P0[1-5]|53300)$/;
// The driver's words for a connection that was lost, which has no code; Knex puts the statement before them.
const CONNECTION_LOST = /(^| - )(Connection terminated|Client has encountered a connection error)/;

function problemCode(error: DriverError): string | null {
  const code = error.code ?? '';
  if (code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED' || error.name === 'KnexTimeoutError') return 'database_busy';
  if (code === 'SQLITE_FULL' || code === '53100') return 'storage_full';
  if (SQLITE_STORAGE.has(code) || code === '58030') return 'storage_failed';
  if (code === THREAD_ENDED || NETWORK.has(code) || POSTGRES_AWAY.test(code) || CONNECTION_LOST.test(error.message)) return 'database_unavailable';
  return null;
}

/** An error as it may be logged and shown: without values of rows, and as a problem where the fault is not the caller's. */
export function cleanError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const raw = error as DriverError;
  const code = problemCode(raw);
  delete raw.detail;
  delete raw.where;
  delete raw.internalQuery;
  delete raw.hint;
  // Data exceptions of Postgres repeat the value in the message.
  if (raw.code?.startsWith('22')) raw.message = raw.message.replace(/: ".*"/s, ': "…"');
  if (!code) return raw;
  return databaseProblem(code, raw);
}

export function databaseProblem(code: string, cause?: Error): Error {
  return problem(code, { detail: `${databaseProblems[code]!.title}.`, headers: { 'Retry-After': '5' }, cause });
}

/** The driver's own error inside a problem. */
export function driverError(error: unknown): DriverError {
  return ((error as Error).cause instanceof Error ? (error as Error).cause : error) as DriverError;
}

function codeOf(error: unknown): string {
  return String((error as DriverError | null)?.code ?? '');
}

/** Two transactions met; running one of them again helps. */
export function isRetryable(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01';
}
