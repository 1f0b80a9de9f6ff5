import type { Reader } from 'civic';
import type { FreshnessStatus } from '../types.ts';
import type { FacetCount } from './facets.ts';
import { keysByDay, type FreshnessFilter } from './query-store.ts';
import type { FreshnessDays } from '../actors/freshness.ts';

/** The days of each actor's freshness, in memory, by key: what its freshness on a day is counted from. */
export interface DayColumns {
  load(reader: Reader): Promise<void>;
  put(key: number, days: FreshnessDays): void;
  /** Counts the freshness of those actors that `isCounted`, of all when `keys` is their number, on a day since 1970 (UTC). */
  count(keys: Uint32Array | number[] | number, day: number, isCounted: (key: number) => boolean): FacetCount[];
  /** Returns the keys with one of these statuses, of those that `isCounted`. */
  select(keys: Uint32Array | number, filter: FreshnessFilter, isCounted: (key: number) => boolean): Uint32Array;
}

const LAST_DAY = 65_535;
const ORDER = ['fresh', 'aging', 'stale', 'unknown'] as const satisfies FreshnessStatus[];
const [FRESH, AGING, STALE, UNKNOWN] = [0, 1, 2, 3] as const;

export function createDays(): DayColumns {
  // 0 stands for no day.
  let fresh = new Uint16Array(1024);
  let aging = new Uint16Array(1024);

  function reserve(key: number): void {
    if (key < fresh.length) return;
    [fresh, aging] = [fresh, aging].map((days) => {
      const longer = new Uint16Array(Math.max(key + 1, days.length * 2));
      longer.set(days);
      return longer;
    }) as [typeof fresh, typeof aging];
  }

  /** Returns a number of `ORDER`. */
  function statusOn(day: number, key: number): number {
    const until = fresh[key] ?? 0;
    return until === 0 ? UNKNOWN : day <= until ? FRESH : day <= aging[key]! ? AGING : STALE;
  }

  return {
    async load(reader) {
      for (const column of ['fresh_until', 'aging_until'] as const) {
        for (const { day, keys } of await keysByDay(reader, column)) {
          for (const key of keys) {
            reserve(key);
            (column === 'fresh_until' ? fresh : aging)[key] = stored(day);
          }
        }
      }
    },
    put(key, days) {
      reserve(key);
      fresh[key] = stored(days.fresh_until);
      aging[key] = stored(days.aging_until);
    },
    count(keys, day, isCounted) {
      const counts = new Uint32Array(ORDER.length);
      const length = typeof keys === 'number' ? keys : keys.length;
      for (let index = 0; index < length; index++) {
        const key = typeof keys === 'number' ? index : keys[index]!;
        if (isCounted(key)) counts[statusOn(day, key)]! += 1;
      }
      return ORDER.map((value, index) => ({ value, count: counts[index]! })).filter(({ count }) => count > 0);
    },
    select(keys, { statuses, day }, isCounted) {
      const isWanted = ORDER.map((status) => statuses.includes(status));
      const length = typeof keys === 'number' ? keys : keys.length;
      const selected = new Uint32Array(length);
      let size = 0;
      for (let index = 0; index < length; index++) {
        const key = typeof keys === 'number' ? index : keys[index]!;
        if (isCounted(key) && isWanted[statusOn(day, key)]) selected[size++] = key;
      }
      return selected.slice(0, size);
    },
  };
}

function stored(day: number | null): number {
  return day === null ? 0 : Math.min(LAST_DAY, Math.max(1, day));
}
