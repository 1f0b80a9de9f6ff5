import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex } from 'knex';
import type { Tx } from './types.ts';

const CHANGES = new Set(['insert', 'update', 'del']);

/** Checks that code inside `write` and `snapshot` uses only `tx` and awaits it, and that read-only code does not write. For tests: it costs too much in production. */
export interface Strictness {
  /** Throws when called inside `write` or `snapshot`. */
  check(what: string): void;
  inside<T>(where: string, tx: Tx, fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs code in which `write` throws. */
  readOnly<T>(where: string, fn: () => Promise<T>): Promise<T>;
}

export const lenient: Strictness = { check: () => undefined, inside: (_where, tx, fn) => fn(tx), readOnly: (_where, fn) => fn() };

interface Inside {
  owner: Strictness;
  where: string;
  /** Reads are allowed, also without `tx`; writes are not. */
  isReadOnly?: boolean;
  /** The enclosing call, perhaps of another database: a process may have several open. */
  outer: Inside | undefined;
}

// One for the process: Node copies every storage that was ever used to each new promise, which tests that open hundreds of databases would pay for.
const storage = new AsyncLocalStorage<Inside>();

function innermost(owner: Strictness): Inside | undefined {
  let inside = storage.getStore();
  while (inside && inside.owner !== owner) inside = inside.outer;
  return inside;
}

export function createStrictness(): Strictness {
  const strictness: Strictness = {
    check(what) {
      const inside = innermost(strictness);
      if (inside?.isReadOnly && what === 'db.write') throw new Error(`db.write was used inside ${inside.where}`);
      if (inside && !inside.isReadOnly) throw new Error(`${what} was used inside ${inside.where}: only its tx may be used there`);
    },
    inside: (where, tx, fn) => storage.run({ owner: strictness, where, outer: storage.getStore() }, async () => {
      const { watched, forgotten } = watchBuilders(tx);
      // Awaited inside: a query that is returned unstarted starts here.
      const value = await fn(watched);
      for (const sql of forgotten()) throw new Error(`A query in ${where} was never run: write await before it (${sql})`);
      return value;
    }),
    readOnly: (where, fn) => storage.run({ owner: strictness, where, isReadOnly: true, outer: storage.getStore() }, fn),
  };
  return strictness;
}

/** Knex runs a query when it is awaited, so a change that never started was forgotten. Returns `tx` with its builders watched, and the SQL of the forgotten ones. */
function watchBuilders(tx: Tx): { watched: Tx; forgotten: () => string[] } {
  const waiting = new Set<Knex.QueryBuilder>();
  const watched = new Proxy(tx, {
    apply(target, self, parameters) {
      const builder = Reflect.apply(target, self, parameters) as Knex.QueryBuilder;
      waiting.add(builder);
      return builder.on('start', () => { waiting.delete(builder); });
    },
  });
  const forgotten = () => [...waiting].map((builder) => builder.toSQL()).filter(({ method }) => CHANGES.has(method)).map(({ sql }) => sql);
  return { watched, forgotten };
}
