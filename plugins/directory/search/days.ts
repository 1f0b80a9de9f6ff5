import type { Reader } from 'civic';
import { FRESHNESS, type FreshnessStatus } from '../types.ts';
import type { FacetCount } from './facets.ts';
import { keysByDay } from './query-store.ts';
import type { FreshnessDays } from '../actors/freshness.ts';

/** The days of each actor's freshness, in memory, by key: what its freshness on a day is counted from. */
export interface DayColumns {
  load(reader: Reader): Promise<void>;
  put(key: number, days: FreshnessDays): void;
  /** Counts the freshness of actors on a day, by number of days since 1970 (UTC). */
  count(keys: Iterable<number>, day: number): FacetCount[];
}

const LAST_DAY = 65_535;

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
    count(keys, day) {
      const counts: Record<FreshnessStatus, number> = { fresh: 0, aging: 0, stale: 0, unknown: 0 };
      for (const key of keys) {
        const until = fresh[key] ?? 0;
        counts[until === 0 ? 'unknown' : day <= until ? 'fresh' : day <= aging[key]! ? 'aging' : 'stale'] += 1;
      }
      return FRESHNESS.filter((status) => counts[status] > 0).map((value) => ({ value, count: counts[value] }));
    },
  };
}

function stored(day: number | null): number {
  return day === null ? 0 : Math.min(LAST_DAY, Math.max(1, day));
}
