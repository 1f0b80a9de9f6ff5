import type { SqliteConnection } from './sqlite.ts';

type Done = (this: unknown, error: Error | null, rows?: never) => void;

interface Statement {
  all(bindings: unknown[], done: Done): void;
  run(bindings: unknown[], done: Done): void;
  finalize(): void;
}

/** The driver's own members that are replaced. */
interface Driver extends SqliteConnection {
  prepare(sql: string, done: (error: Error | null) => void): Statement;
  close(done: (error: Error | null) => void): void;
}

const MOST = 200;
/** Longer ones are lists of values, and hardly ever come again. */
const LONGEST = 4000;
/** What changes the schema or the connection is not said twice. */
const ONCE = /^\s*(?:alter|analyze|attach|create|detach|drop|pragma|reindex|vacuum)\b/i;

/**
 * The driver prepares, runs and throws away a statement each time, which is two trips to another thread and a parse.
 * Kept ones are run again: a third of what a small write costs.
 */
export function keepStatements(given: SqliteConnection): void {
  const connection = given as Driver;
  const kept = new Map<string, Statement>();
  const [all, run, close] = [connection.all, connection.run, connection.close].map((method) => method.bind(connection)) as [Driver['all'], Driver['run'], Driver['close']];

  function forget(sql: string): void {
    const statement = kept.get(sql);
    kept.delete(sql);
    statement?.finalize();
  }

  /** The one used longest ago goes. A fault of the text is told when it is prepared, and never again. */
  function statementOf(sql: string, done: Done): Statement {
    const known = kept.get(sql);
    const statement = known ?? connection.prepare(sql, (error) => {
      if (!error) return;
      kept.delete(sql);
      done.call(statement, error);
    });
    kept.delete(sql);
    kept.set(sql, statement);
    if (kept.size > MOST) forget(kept.keys().next().value!);
    return statement;
  }

  const reusing = (how: 'all' | 'run', once: (...parameters: any[]) => void) => (sql: string, ...rest: unknown[]): void => {
    if (sql.length > LONGEST || ONCE.test(sql)) return once(sql, ...rest);
    const done = rest.pop() as Done;
    const bindings = (rest[0] ?? []) as unknown[];
    statementOf(sql, done)[how](bindings, function (this: unknown, error, rows) {
      // One that failed half-way may still hold what it read.
      if (error) forget(sql);
      done.call(this, error, rows);
    });
  };
  connection.all = reusing('all', all);
  connection.run = reusing('run', run);
  connection.close = (done) => {
    for (const sql of kept.keys()) forget(sql);
    close(done);
  };
}
