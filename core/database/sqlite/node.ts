import { Worker } from 'node:worker_threads';
import { plainBindings, THREAD_ENDED, type Row, type RunResult, type SqliteConnection, type SqliteDriver } from './driver.ts';

/** A request to a thread, which replies to each in the order of arrival. */
export type Request = [method: 'all' | 'run', sql: string, bindings: (string | number | null | Uint8Array)[]] | ['close'];

export interface ErrorReply {
  code: string | undefined;
  message: string;
}

/** Rows are sent as lists of values, which takes half the time of objects. `bytes` are the indexes of columns that contain blobs. */
export type Reply = ['rows', names: string[], rows: unknown[][], bytes: number[]] | ['ran', changes: number, lastID: number] | ['done'] | ['failed', ErrorReply];

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** The SQLite of Node, `node:sqlite`. Its calls block, so each connection has its own thread. */
export const nodeDriver: SqliteDriver = {
  name: 'node',
  async open(file, onLost) {
    const connection = new NodeConnection(file, onLost);
    await connection.opened;
    return connection;
  },
};

class NodeConnection implements SqliteConnection {
  readonly opened: Promise<unknown>;
  readonly #worker: Worker;
  readonly #exit: Promise<unknown>;
  readonly #waiting: Waiting[] = [];
  #isClosing = false;
  /** Why the thread ended unexpectedly. */
  #lost: string | null = null;

  constructor(file: string, onLost?: (error: Error) => void) {
    // Node 22 warns that the module is experimental.
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: file, execArgv: ['--disable-warning=ExperimentalWarning'] });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    let cause: Error | undefined;
    // Replies are matched to requests by their order, so a reply that cannot be read ends the thread.
    for (const event of ['error', 'messageerror']) this.#worker.on(event, (error: Error) => {
      cause = error;
      void this.#worker.terminate();
    });
    this.#exit = new Promise((resolve) => { this.#worker.once('exit', resolve); });
    this.#worker.once('exit', () => {
      if (this.#isClosing && this.#waiting.length === 0) return;
      this.#lost = `the thread of node:sqlite ended unexpectedly${cause ? ` (${cause.message})` : ''}`;
      for (const { reject } of this.#waiting.splice(0)) reject(lostError(this.#lost));
      onLost?.(lostError(this.#lost));
    });
    this.opened = this.#reply().catch(async (error) => {
      this.#isClosing = true;
      await this.#ended();
      throw error;
    });
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  async all(sql: string, bindings?: readonly unknown[]): Promise<Row[]> {
    const [, names, rows, bytes] = await this.#send(['all', sql, transferable(bindings)]) as Extract<Reply, ['rows', ...unknown[]]>;
    return rows.map((values) => rowOf(names, values, bytes));
  }

  async run(sql: string, bindings?: readonly unknown[]): Promise<RunResult> {
    const [, changes, lastID] = await this.#send(['run', sql, transferable(bindings)]) as Extract<Reply, ['ran', ...unknown[]]>;
    return { changes, lastID };
  }

  async close(): Promise<void> {
    if (this.#lost !== null) return;
    const closed = this.#send(['close']);
    this.#isClosing = true;
    await closed;
    await this.#ended();
  }

  /** Waits for the exit, which the constructor listens for: the thread may exit as soon as it has replied. */
  async #ended(): Promise<void> {
    this.#worker.ref();
    await this.#exit;
  }

  async #send(request: Request): Promise<Reply> {
    if (this.#lost !== null) throw lostError(this.#lost);
    if (this.#isClosing) throw errorOf({ code: 'SQLITE_MISUSE', message: 'SQLITE_MISUSE: Database is closed' });
    this.#worker.postMessage(request);
    return await this.#reply();
  }

  /** Waits for the next reply. Only waiting connections keep the process running. */
  #reply(): Promise<Reply> {
    if (this.#waiting.length === 0) this.#worker.ref();
    return new Promise((resolve, reject) => { this.#waiting.push({ resolve, reject }); });
  }

  #settle(reply: Reply): void {
    const { resolve, reject } = this.#waiting.shift()!;
    if (this.#waiting.length === 0) this.#worker.unref();
    if (reply[0] === 'failed') reject(errorOf(reply[1]));
    else resolve(reply);
  }
}

/** Creates an error for each statement: Knex adds the statement to the message. */
function lostError(reason: string): Error {
  return errorOf({ code: THREAD_ENDED, message: `${THREAD_ENDED}: ${reason}` });
}

/** Copies blobs: a message would otherwise contain the whole memory block that a Buffer is part of. */
function transferable(bindings: readonly unknown[] | undefined): (string | number | null | Uint8Array)[] {
  return plainBindings(bindings).map((value) => (Buffer.isBuffer(value) ? new Uint8Array(value) : value));
}

function rowOf(names: string[], values: unknown[], bytes: number[]): Row {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
  for (const index of bytes) {
    const value = values[index];
    if (value instanceof Uint8Array) row[names[index]!] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return row as Row;
}

function errorOf({ code, message }: ErrorReply): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
