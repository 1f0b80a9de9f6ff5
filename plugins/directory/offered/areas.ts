import type { Reader } from 'civic';
import { tellingOf } from '../actors/context.ts';
import { actorsByKey } from '../actors/read-store.ts';
import { actorText } from '../actors/wire.ts';
import { coveredPlaces } from '../places/covered-store.ts';
import { keyOf, tagToken } from '../search/document.ts';
import { keysInPlaces, pageByRank, searching, tagsByKey } from '../search/query-store.ts';
import type { Directory } from '../service.ts';
import type { Actor } from '../types.ts';
import { chooseByIssue } from './choose.ts';
import { mostSourcesIn, namesByKey, type NamedActor } from './place-store.ts';
import { upcomingWithin } from './store.ts';

/** Reads of counties and states, with the places in them. All of them return public data only. */
export interface AreaReads {
  /** Returns what the directory has in a county or state and its places, each actor once. `names` as in `placeOverview`. */
  areaOverview(area: Area, names: number): Promise<AreaOverview>;
  /** Returns events in a county or state and its places that have not begun, the next first: those among the next 2,000 events of the instance. */
  areaEvents(area: Area, limit: number): Promise<Actor[]>;
}

/** A state by its abbreviation, or a county by its place key. */
export type Area = { state: string } | { county: string; state: string };

export interface AreaOverview {
  entity_count: number;
  /** Of the issue areas that have actors, by slug. Actors are chosen from the 400 of a county that have most sources, or that a search in the state finds first, so an issue area may have none. */
  issues: Map<string, { entity_count: number; actors: NamedActor[] }>;
}

interface Counted {
  /** The keys of the actors among which those of issue areas are chosen. */
  first: number[];
  total: number;
  issues: ReadonlyMap<string, number>;
}

/** The most actors among which those of issue areas are chosen. */
const CHOSEN_FROM = 400;
const MOST_PLACES = 300;
const MOST_EVENTS = 2000;

export function offeredAreas(directory: Directory): AreaReads {
  const { civic, columns, places } = directory;

  /** Returns the keys of a county and of the places in it. */
  async function placesOf(reader: Reader, { county, state }: { county: string; state: string }): Promise<number[]> {
    const own = (await places.byKeys(reader, [county])).get(county);
    const inside = await coveredPlaces(reader, { county, state, limit: MOST_PLACES });
    return [...new Set([...own ? [own] : [], ...inside].map(({ key }) => key))];
  }

  async function inCounty(reader: Reader, area: { county: string; state: string }): Promise<Counted> {
    const inside = await placesOf(reader, area);
    const listed = await keysInPlaces(reader, inside);
    const hidden = new Set(columns.unknown(listed));
    const keys = hidden.size > 0 ? listed.filter((key) => !hidden.has(key)) : listed;
    const first = [...new Set(await mostSourcesIn(reader, inside, CHOSEN_FROM))].filter((key) => !hidden.has(key));
    return { first, total: keys.length, issues: new Map(columns.facets(keys).issue_area.map(({ value, count }) => [value, count])) };
  }

  async function inState(reader: Reader, abbreviation: string): Promise<Counted> {
    const state = abbreviation.toLowerCase();
    const { actors, issues } = columns.stateTallies().get(state) ?? { actors: 0, issues: new Map<string, number>() };
    const ranks = actors === 0 ? [] : await searching(reader, (quick) => pageByRank(quick, {
      tiers: [{ token: tagToken(`s:${state}`), isPrefix: false }], freshness: null, after: null, limit: CHOSEN_FROM, isFrequent: actors * 100 > columns.size,
    }));
    return { first: ranks.map(({ rank }) => keyOf(rank)), total: actors, issues: new Map(issues) };
  }

  return {
    async areaOverview(area, names) {
      await columns.ready();
      return civic.db.snapshot(async (tx) => {
        const { first, total, issues } = 'county' in area ? await inCounty(tx, area) : await inState(tx, area.state);
        const tags = new Map((await tagsByKey(tx, first)).map((row) => [row.key, row.tags]));
        const chosen = chooseByIssue(first.map((key) => ({ key, tags: tags.get(key) ?? '' })), new Map([...issues].map(([slug, count]) => [slug, Math.min(names, count)])));
        const actors = await namesByKey(tx, [...new Set([...chosen.values()].flat())]);
        return { entity_count: total, issues: new Map([...issues].map(([slug, count]) => [slug, { entity_count: count, actors: (chosen.get(slug) ?? []).flatMap((key) => actors.get(key) ?? []) }])) };
      });
    },
    async areaEvents(area, limit) {
      const within = 'county' in area ? { places: await placesOf(civic.db.read, area) } : { tag: `s:${area.state.toLowerCase()}` };
      const keys = await upcomingWithin(civic.db.read, within, civic.clock.iso(), limit, MOST_EVENTS);
      return (await actorsByKey(civic.db.read, keys)).map((row) => JSON.parse(actorText(row, tellingOf(directory))) as Actor);
    },
  };
}
