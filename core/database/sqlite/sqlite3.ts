import sqlite3, { type Database, type Statement } from 'sqlite3';
import { plainBindings, type Row, type RunResult, type SqliteConnection, type SqliteDriver } from './driver.ts';
import { isReusable, StatementCache } from './statements.ts';

/** Receives the rows of `all`, or the counts of `run`. */
type Done = (error: Error | null, result?: unknown) => void;

/** The npm package sqlite3: statements run on the thread pool of libuv. */
export const sqlite3Driver: SqliteDriver = {
  name: 'sqlite3',
  async open(file) {
    const database = await new Promise<Database>((resolve, reject) => {
      const opening: Database = new sqlite3.Database(file, (error) => (error ? reject(error) : resolve(opening)));
    });
    return new Sqlite3Connection(database);
  },
};

/**
 * Passes one statement at a time to the driver, which would run prepared statements in parallel, each on its own thread: a
 * statement sent before a rollback could run after it.
 */
class Sqlite3Connection implements SqliteConnection {
  readonly isLost = false;
  readonly #database: Database;
  readonly #statements = new StatementCache<Statement>((statement) => { statement.finalize(); });
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  constructor(database: Database) {
    this.#database = database;
  }

  all(sql: string, bindings?: readonly unknown[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#enqueue('all', sql, bindings, (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
    });
  }

  run(sql: string, bindings?: readonly unknown[]): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      this.#enqueue('run', sql, bindings, (error, counts) => (error ? reject(error) : resolve(counts as RunResult)));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#start(() => {
        this.#statements.clear();
        this.#database.close((error) => {
          this.#startNext();
          return error ? reject(error) : resolve();
        });
      });
    });
  }

  #start(work: () => void): void {
    if (this.#isBusy) {
      this.#waiting.push(work);
    } else {
      this.#isBusy = true;
      work();
    }
  }

  #startNext(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isBusy = false;
  }

  #enqueue(method: 'all' | 'run', sql: string, bindings: readonly unknown[] | undefined, done: Done): void {
    const values = plainBindings(bindings);
    const finish: Done = (error, result) => {
      // A statement that failed half-way may still hold a lock.
      if (error) this.#statements.delete(sql);
      this.#startNext();
      done(error, result);
    };
    // The driver passes the counts as `this`.
    function ended(this: unknown, error: Error | null, rows?: unknown): void {
      finish(error, method === 'run' ? this : rows);
    }
    this.#start(() => {
      if (isReusable(sql)) this.#statement(sql, finish)[method](values, ended);
      else this.#database[method](sql, values, ended);
    });
  }

  /** An error in the text is reported when the statement is prepared, and not when it is run. */
  #statement(sql: string, finish: Done): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql, (error: Error | null) => { if (error) finish(error); });
    this.#statements.set(sql, statement);
    return statement;
  }
}
