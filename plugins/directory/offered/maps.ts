import { coverageStatus } from '../actors/coverage.ts';
import type { Place } from '../places/schemas.ts';
import { STATES, type State } from '../places/states.ts';
import type { Directory } from '../service.ts';
import { areasOfState, countCoveredPlaces, countsOfState, coveredOutside, type AreaCount } from './maps-store.ts';

/** Reads for maps. All of them return public data only. */
export interface MapReads {
  /** Returns all states and territories of the US with the number of their actors, those with an issue area when it is given. */
  stateCounts(issueArea?: string): Promise<StateCount[]>;
  /** Returns how many places of each state have actors, and the places in no state that have most. */
  placeCounts(issueArea?: string): Promise<PlaceCounts>;
  /** Returns the counties of a state, by its abbreviation, and its places in no county, with the number of actors in each. */
  countyCounts(state: string, issueArea?: string): Promise<CountyCount[]>;
}

export interface CountyCount {
  place_key: string;
  name: string;
  /** `county`, or that of a place in no county. */
  kind: string;
  entity_count: number;
  /** How many of its places have actors. */
  place_count: number;
}

export interface StateCount extends Pick<State, 'name' | 'abbreviation' | 'kind'> {
  /** `missouri`. */
  place_key: string;
  /** Two digits. */
  fips: string;
  entity_count: number;
  /** How many issue areas are covered, as in the coverage of a place. */
  covered_count: number;
}

export interface PlaceCounts {
  /** By abbreviation. */
  byState: Map<string, number>;
  outside: { place: Place; entity_count: number }[];
  outsideTotal: number;
}

const MOST_OUTSIDE = 100;
/** Counts of states that are kept, with and without an issue area. */
const MOST_KEPT = 200;

export function offeredMaps({ civic, columns, places }: Directory): MapReads {
  // Counting the actors of a state of a large directory takes some hundred milliseconds, so the last results are kept until an actor changes.
  const counted = new Map<string, { version: number; counts: Map<string, AreaCount> }>();
  async function areaCounts(state: string, issueArea: string | undefined): Promise<Map<string, AreaCount>> {
    const key = `${state} ${issueArea ?? ''}`;
    // Of a moment before anything is read: what changes later is seen to be newer.
    const { version } = columns;
    const known = counted.get(key);
    if (known?.version === version) return known.counts;
    const counts = await countsOfState(civic.db.read, state, issueArea);
    counted.delete(key);
    counted.set(key, { version, counts });
    if (counted.size > MOST_KEPT) counted.delete(counted.keys().next().value!);
    return counts;
  }

  return {
    async stateCounts(issueArea) {
      await columns.ready();
      const byState = columns.stateTallies();
      return STATES.map(({ abbreviation, name, slug, kind, fips }) => {
        const tally = byState.get(abbreviation.toLowerCase());
        const covered = [...tally?.issues.values() ?? []].filter((count) => coverageStatus(count) === 'covered');
        return {
          place_key: slug, name, abbreviation, kind, fips: String(fips).padStart(2, '0'),
          entity_count: (issueArea === undefined ? tally?.actors : tally?.issues.get(issueArea)) ?? 0,
          covered_count: covered.length,
        };
      });
    },
    async placeCounts(issueArea) {
      const [byState, outside] = await civic.db.snapshot(async (tx) => [await countCoveredPlaces(tx, issueArea), await coveredOutside(tx, MOST_OUTSIDE, issueArea)] as const);
      return {
        byState: new Map([...byState].flatMap(([state, count]): [string, number][] => (state === null ? [] : [[state, count]]))),
        outside: outside.map(({ actors, ...row }) => ({ place: places.recordOf(row), entity_count: actors })),
        outsideTotal: byState.get(null) ?? 0,
      };
    },
    async countyCounts(state, issueArea) {
      const [areas, counts] = [await areasOfState(civic.db.read, state), await areaCounts(state, issueArea)];
      return areas.map((area) => ({ ...area, entity_count: counts.get(area.place_key)?.actors ?? 0, place_count: counts.get(area.place_key)?.places ?? 0 }));
    },
  };
}
