import { AsyncLocalStorage } from 'node:async_hooks';

/** Keeps code inside `write` and `snapshot` from using anything but `tx`. Checked in tests; it costs too much in production. */
export interface Strictness {
  /** Throws when called inside `write` or `snapshot`. */
  check(what: string): void;
  inside<T>(where: string, fn: () => Promise<T>): Promise<T>;
}

export const lenient: Strictness = { check: () => undefined, inside: (_where, fn) => fn() };

export function createStrictness(): Strictness {
  const storage = new AsyncLocalStorage<string>();
  return {
    check(what) {
      const where = storage.getStore();
      if (where) throw new Error(`${what} was used inside ${where}: only its tx may be used there`);
    },
    // Awaited inside: a query that is returned unstarted starts here.
    inside: (where, fn) => storage.run(where, async () => await fn()),
  };
}
