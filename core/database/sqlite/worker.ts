import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorReply, Reply, Request } from './node.ts';
import { isReusable, StatementCache } from './statements.ts';

// A thread with one connection on `node:sqlite`; see node.ts.

interface Statement {
  all(...bindings: unknown[]): unknown[][] | undefined;
  run(...bindings: unknown[]): { changes: number; lastInsertRowid: number };
  columns(): { name: string }[];
  setReturnArrays(isEnabled: boolean): void;
  setReadBigInts(isEnabled: boolean): void;
}
interface Database {
  prepare(sql: string): Statement;
  close(): void;
}
interface Prepared {
  statement: Statement;
  readsBigInts: boolean;
}
interface NodeSqliteError extends Error {
  code?: string;
  errcode?: number;
}

// Indexed by result code; extended codes have details in the higher bits.
const CODES = [
  'OK', 'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'INTERRUPT', 'IOERR', 'CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN',
  'PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH', 'MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE', 'NOTADB', 'NOTICE', 'WARNING',
];
/** White space, semicolons and comments, of which the last may be unterminated. SQLite reads SQL up to a NUL character. */
const SKIPPED = /[\s;]+|--[^\n\0]*|\/\*[^\0]*?(?:\*\/|(?=\0)|$)/gy;
const READS = /^\s*(?:select|pragma|explain)\b/i;

const port = parentPort!;
const statements = new StatementCache<Prepared>(() => undefined);

function openFile(file: string): Database {
  // The types of Node 20 do not have this module.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as { DatabaseSync: new (file: string) => Database };
  return new DatabaseSync(file);
}

function prepare(database: Database, sql: string): Prepared {
  const known = statements.get(sql);
  if (known) return known;
  // Node 22 crashes when it frees a statement that was prepared from such a text.
  if (!hasStatement(sql)) throw sqliteError('SQLITE_MISUSE', 'the text has no statement');
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const prepared = { statement, readsBigInts: false };
  // A statement that changes rows cannot be run again when an integer turns out to be too large.
  if (!READS.test(sql)) readBigInts(prepared);
  if (isReusable(sql)) statements.set(sql, prepared);
  return prepared;
}

function hasStatement(sql: string): boolean {
  const rest = sql.replace(SKIPPED, '');
  return rest !== '' && !rest.startsWith('\0');
}

function readBigInts(prepared: Prepared): void {
  prepared.statement.setReadBigInts(true);
  prepared.readsBigInts = true;
}

function allRows({ statement }: Prepared, bindings: unknown[]): unknown[][] {
  const rows = statement.all(...bindings);
  if (rows === undefined) throw sqliteError('SQLITE_TOOBIG', 'a text is longer than a string can be');
  return rows;
}

function readRows(prepared: Prepared, bindings: unknown[]): unknown[][] {
  if (!prepared.readsBigInts) {
    try {
      return allRows(prepared, bindings);
    } catch (error) {
      if ((error as NodeSqliteError).code !== 'ERR_OUT_OF_RANGE') throw error;
      readBigInts(prepared);
    }
  }
  return allRows(prepared, bindings).map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value)));
}

/** Returns the indexes of columns that contain a blob in any row. */
function blobColumns(rows: unknown[][]): number[] {
  const found = new Set<number>();
  for (const row of rows) {
    for (let index = 0; index < row.length; index++) {
      const value = row[index];
      if (typeof value === 'object' && value !== null) found.add(index);
    }
  }
  return [...found];
}

/** An empty blob inside an allocated buffer: Node 22 binds other empty blobs as null. */
const EMPTY_BLOB = new Uint8Array(1).subarray(1);

/** Node binds every number as a real; the package sqlite3 binds integers of 32 bits as integers. */
function bindingOf(value: unknown): unknown {
  if (typeof value === 'number') return (value | 0) === value ? BigInt(value) : value;
  return value instanceof Uint8Array && value.length === 0 ? EMPTY_BLOB : value;
}

function execute(database: Database, [method, sql, bindings]: Exclude<Request, ['close']>): Reply {
  const prepared = prepare(database, sql);
  const values = bindings.map(bindingOf);
  if (method === 'run') {
    const { changes, lastInsertRowid } = prepared.statement.run(...values);
    return ['ran', Number(changes), Number(lastInsertRowid)];
  }
  const rows = readRows(prepared, values);
  const names = rows.length === 0 ? [] : prepared.statement.columns().map(({ name }) => name);
  // Node before 26 counts the columns of a statement before SQLite prepares it again for a table that has changed.
  if (rows.length > 0 && rows[0]!.length < names.length && READS.test(sql)) {
    statements.delete(sql);
    return execute(database, [method, sql, bindings]);
  }
  return ['rows', names.slice(0, rows[0]?.length), rows, blobColumns(rows)];
}

function sqliteError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

function errorReply(error: NodeSqliteError): ErrorReply {
  if (error.errcode === undefined) return { code: error.code, message: error.message };
  const code = `SQLITE_${CODES[error.errcode & 0xff] ?? 'ERROR'}`;
  return { code, message: `${code}: ${error.message}` };
}

/** Sends the result or the error. Returns whether `work` succeeded. */
function reply(work: () => Reply): boolean {
  let result: Reply;
  try {
    result = work();
  } catch (error) {
    result = ['failed', errorReply(error as NodeSqliteError)];
  }
  port.postMessage(result);
  return result[0] !== 'failed';
}

function serve(): void {
  let database: Database;
  const isOpen = reply(() => {
    database = openFile(workerData as string);
    return ['done'];
  });
  if (!isOpen) return;
  port.on('message', (request: Request) => {
    const isClosing = request[0] === 'close';
    const isDone = reply(() => {
      if (request[0] !== 'close') return execute(database, request);
      database.close();
      return ['done'];
    });
    if (isClosing && isDone) port.close();
  });
}

serve();
