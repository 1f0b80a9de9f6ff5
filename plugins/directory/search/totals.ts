/** Totals of lists that somebody goes through: counted with the first page, and again after any change. */
export interface Totals {
  /** The total of a list as it was in a version; undefined when it has to be counted. */
  known(list: string, version: number): number | undefined;
  keep(list: string, version: number, total: number): void;
}

const MOST_KEPT = 1000;

export function createTotals(): Totals {
  const kept = new Map<string, { version: number; total: number }>();
  return {
    known(list, version) {
      const entry = kept.get(list);
      return entry?.version === version ? entry.total : undefined;
    },
    keep(list, version, total) {
      kept.delete(list);
      kept.set(list, { version, total });
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
    },
  };
}
