/** Totals of lists that a client pages through: counted with the first page, and again after any change. */
export interface Totals {
  /** The total of a list in a version; undefined when it has to be counted. */
  known(list: string, version: number): number | undefined;
  keep(list: string, version: number, total: number): void;
}

const MOST_KEPT = 1000;
/** Of all keys together: a key holds the filters of a list, up to the length of an address. */
const MOST_CHARACTERS = 500_000;

export function createTotals(): Totals {
  const kept = new Map<string, { version: number; total: number }>();
  let characters = 0;

  function remove(list: string): void {
    if (kept.delete(list)) characters -= list.length;
  }

  return {
    known(list, version) {
      const entry = kept.get(list);
      return entry?.version === version ? entry.total : undefined;
    },
    keep(list, version, total) {
      remove(list);
      kept.set(list, { version, total });
      characters += list.length;
      while (kept.size > MOST_KEPT || characters > MOST_CHARACTERS) remove(kept.keys().next().value!);
    },
  };
}
