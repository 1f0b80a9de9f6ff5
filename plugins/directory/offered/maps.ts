import { coverageStatus } from '../actors/coverage.ts';
import { STATES, type State } from '../places/states.ts';
import type { StateTally } from '../search/crossed.ts';
import type { Directory } from '../service.ts';

/** Reads for maps. All of them return public data only. */
export interface MapReads {
  /** Returns all states and territories of the US with the number of their actors, those with an issue area when it is given. */
  stateCounts(issueArea?: string): Promise<StateCount[]>;
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

export function offeredMaps({ columns }: Directory): MapReads {
  // Counting a million actors takes some ten milliseconds, so the last result is kept until an actor changes.
  let last: { version: number; tallies: Map<string, StateTally> } | null = null;
  async function tallies(): Promise<Map<string, StateTally>> {
    await columns.ready();
    const { version } = columns;
    if (last?.version !== version) last = { version, tallies: columns.stateTallies() };
    return last.tallies;
  }

  return {
    async stateCounts(issueArea) {
      const byState = await tallies();
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
  };
}
