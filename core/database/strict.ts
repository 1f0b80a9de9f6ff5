import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex } from 'knex';
import type { Tx } from './types.ts';

/** Keeps code inside `write` and `snapshot` from using anything but `tx`, and from forgetting to await it. Checked in tests; it costs too much in production. */
export interface Strictness {
  /** Throws when called inside `write` or `snapshot`. */
  check(what: string): void;
  inside<T>(where: string, tx: Tx, fn: (tx: Tx) => Promise<T>): Promise<T>;
}

export const lenient: Strictness = { check: () => undefined, inside: (_where, tx, fn) => fn(tx) };

export function createStrictness(): Strictness {
  const storage = new AsyncLocalStorage<string>();
  return {
    check(what) {
      const where = storage.getStore();
      if (where) throw new Error(`${what} was used inside ${where}: only its tx may be used there`);
    },
    inside: (where, tx, fn) => storage.run(where, async () => {
      const forgotten = watchBuilders(tx);
      // Awaited inside: a query that is returned unstarted starts here.
      const value = await fn(tx);
      for (const sql of forgotten()) throw new Error(`A query in ${where} was never run: write await before it (${sql})`);
      return value;
    }),
  };
}

type Builder = Knex.QueryBuilder & { _method?: string };

/** Knex runs a query when it is awaited, so one that changes rows and never started was forgotten. Answers the SQL of those. */
function watchBuilders(tx: Tx): () => string[] {
  const waiting = new Set<Builder>();
  const client = tx.client as { queryBuilder(): Builder };
  const make = client.queryBuilder.bind(client);
  client.queryBuilder = () => {
    const builder = make();
    waiting.add(builder);
    builder.on('start', () => { waiting.delete(builder); });
    return builder;
  };
  return () => [...waiting].filter(({ _method }) => ['insert', 'update', 'del'].includes(_method ?? '')).map((builder) => builder.toSQL().sql);
}
