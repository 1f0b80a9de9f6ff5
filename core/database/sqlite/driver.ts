/** A row, the same from both drivers. Integers beyond 2^53 are rounded to a number. */
export type Row = Record<string, string | number | null | Buffer>;

export interface RunResult {
  changes: number;
  /** The key of the last row that this connection inserted. */
  lastID: number;
}

/** A connection to a SQLite file. Statements run in the order of their calls, and never on the event loop. */
export interface SqliteConnection {
  /** Runs one statement and returns its rows. */
  all(sql: string, bindings?: readonly unknown[]): Promise<Row[]>;
  /** Runs one statement and returns what it changed. */
  run(sql: string, bindings?: readonly unknown[]): Promise<RunResult>;
  /** Closes after the waiting statements have finished. */
  close(): Promise<void>;
  /** Whether the thread of the connection has ended: every statement then fails with `THREAD_ENDED`. */
  readonly isLost: boolean;
}

/** The code of errors of a connection whose thread ended unexpectedly. */
export const THREAD_ENDED = 'THREAD_ENDED';

export type DriverName = 'sqlite3' | 'node';

/** Errors of both drivers have the code of SQLite, such as SQLITE_BUSY, and a message that begins with it. */
export interface SqliteDriver {
  readonly name: DriverName;
  /** Calls `onLost` when the thread of the connection ends unexpectedly. */
  open(file: string, onLost?: (error: Error) => void): Promise<SqliteConnection>;
}

/** Converts a value to one that SQLite stores. Rejects values that the drivers would store differently, or not at all. */
export function plainBinding(value: unknown): string | number | null | Buffer {
  switch (typeof value) {
    case 'string': case 'number': return value;
    case 'boolean': return value ? 1 : 0;
    case 'undefined': return null;
    case 'bigint':
      if (BigInt.asIntN(54, value) !== value) throw new RangeError(`A binding of SQLite is an integer below 2^53, not ${value}`);
      return Number(value);
    case 'object':
      if (value === null || Buffer.isBuffer(value)) return value;
      if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  throw new TypeError(`A binding of SQLite is text, a number, a boolean, null or bytes, not ${Object.prototype.toString.call(value)}`);
}

export function plainBindings(values: readonly unknown[] = []): (string | number | null | Buffer)[] {
  return values.map(plainBinding);
}
