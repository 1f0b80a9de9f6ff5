import type { Request } from '@hapi/hapi';
import { cursorAfter, pageOf, type Reader } from 'civic';
import { tellingOf } from '../actors/context.ts';
import { COVERED } from '../actors/coverage.ts';
import { dayOf } from '../actors/freshness.ts';
import { latestPlaceSources, placeEntities, placeSourceList, type PlaceQuery } from '../actors/place-reads.ts';
import { PLACE_SOURCE_POSITION } from '../actors/place-routes.ts';
import { actorsByKey, countPlaceSources, placeCount } from '../actors/read-store.ts';
import { positionShape } from '../actors/reads.ts';
import { actorText } from '../actors/wire.ts';
import { upcomingIn } from '../feeds/store.ts';
import { coveredPlace } from '../places/covered.ts';
import { coveredByCounty, coveredByState, coveredPlaces, countCovered, type CoveredQuery } from '../places/covered-store.ts';
import { squash } from '../places/names.ts';
import type { CoveredPlace, Place } from '../places/schemas.ts';
import type { PlaceRow } from '../places/service.ts';
import type { Directory } from '../service.ts';
import type { Actor, FreshnessStatus, Source } from '../types.ts';
import { chooseByIssue } from './choose.ts';
import type { EntityPage, TaxonomyTopic } from './pages.ts';
import { countWellCovered, freshnessIn, issueCountsIn, largestOfIssue, listedBySources, namesByKey, type IssueCount, type ListedTags, type NamedActor } from './place-store.ts';

/** Reads of places for pages. All of them return public data only. */
export interface PlaceReads {
  /** Returns places that have public actors, in the order of their keys. `name` is the beginning of a name. */
  coveredPlaces(query: CoveredSearch): Promise<CoveredPlace[]>;
  countCoveredPlaces(query?: Omit<CoveredSearch, 'limit'>): Promise<number>;
  /** Returns all domains with their issue areas, without counting actors. */
  topics(): Topic[];
  /** Returns how many issue areas are covered, as in the coverage of a place, by place key. */
  coveredIssueCounts(placeKeys: string[]): Promise<Map<string, number>>;
  /** Returns how many places with public actors are in a state, by the abbreviation of the state; abroad under null. */
  placesByState(): Promise<Map<string | null, number>>;
  /** Returns how many places with public actors are in a county of a state, by the place key of the county; in none under null. */
  placesByCounty(state: string): Promise<Map<string | null, number>>;
  /** Returns what the directory has about a place. `names` is how many actors of each issue area are returned, those with most sources first, and no events. */
  placeOverview(placeKey: string, names: number): Promise<PlaceOverview>;
  /** Returns events in a place that have not begun, the next first. */
  placeEvents(placeKey: string, limit: number): Promise<Actor[]>;
  /** Returns the page of the actors of a place that `cursor` and `limit` of a request ask for. */
  placeEntities(request: Request, placeKey: string, query: Partial<PlaceQuery>): Promise<EntityPage>;
  /** Returns the page of the sources of a place that `cursor` and `limit` of a request ask for, the latest retrieved first. */
  placeSources(request: Request, placeKey: string): Promise<{ data: Source[]; total: number; next_cursor: string | null }>;
  latestSources(placeKey: string, limit: number): Promise<Source[]>;
  /** Returns the places in which most public actors work on an issue area, and how many places have some. */
  placesOfIssue(slug: string, limit: number): Promise<{ data: CoveredPlace[]; total: number }>;
  /** Returns the nearest places that have public actors. None for a place without coordinates. */
  nearbyPlaces(placeKey: string, limit: number): Promise<CoveredPlace[]>;
  /** Returns the places that a text may mean, likeliest first, and whether all of them have the name in the text. */
  likelyPlaces(text: string, limit: number): Promise<{ places: Place[]; isName: boolean }>;
}

export interface Topic extends TaxonomyTopic {
  issue_areas: TaxonomyTopic[];
}

export interface CoveredSearch extends Pick<CoveredQuery, 'state' | 'county' | 'limit'> {
  name?: string;
}

export interface PlaceOverview {
  entity_count: number;
  source_count: number;
  freshness: Record<FreshnessStatus, number>;
  /** Of the issue areas that have actors, by slug. */
  issues: Map<string, { entity_count: number; actors: NamedActor[] }>;
}

/** Fewer events of a place are found faster by its tag than among all events to come. */
const FEW_EVENTS = 1500;
const FIRST_ROWS = 400;

export function offeredPlaces(directory: Directory): PlaceReads {
  const { civic, listedPlaces, places, taxonomy } = directory;
  const placeOf = async (key: string): Promise<PlaceRow> => (await places.byKeys(civic.db.read, [key])).get(key)!;
  const actorsOf = async (reader: Reader, keys: number[]): Promise<Actor[]> => (await actorsByKey(reader, keys)).map((row) => JSON.parse(actorText(row, tellingOf(directory))) as Actor);
  const withName = ({ name, ...query }: Partial<CoveredSearch>) => ({ ...query, ...(name && { squashed: squash(name) }) });

  return {
    coveredPlaces: async (query) => (await coveredPlaces(civic.db.read, { ...withName(query), limit: query.limit })).map((row) => coveredPlace(places, row)),
    countCoveredPlaces: (query = {}) => countCovered(civic.db.read, withName(query)),
    topics: () => taxonomy().domains.map((domain) => ({ ...topicOf(domain), issue_areas: domain.issue_areas.map(topicOf) })),
    async coveredIssueCounts(placeKeys) {
      const rows = await places.byKeys(civic.db.read, placeKeys);
      const counts = await countWellCovered(civic.db.read, [...rows.values()].map(({ key }) => key), COVERED);
      return new Map([...rows].map(([placeKey, { key }]) => [placeKey, counts.get(key) ?? 0]));
    },
    placesByState: async () => new Map((await coveredByState(civic.db.read)).map(({ state, places: count }) => [state, count])),
    placesByCounty: async (state) => new Map((await coveredByCounty(civic.db.read, state)).map(({ county, places: count }) => [county, count])),
    async placeOverview(placeKey, names) {
      const { key } = await placeOf(placeKey);
      return civic.db.snapshot(async (tx) => {
        const counts = await issueCountsIn(tx, key);
        const total = counts.find(({ issue_area }) => issue_area === '')?.actors ?? 0;
        const issues = counts.filter(({ issue_area }) => issue_area !== '');
        const listed = await topOfIssues(tx, key, issues, names);
        const byKey = await namesByKey(tx, [...new Set([...listed.values()].flat())]);
        return {
          entity_count: total,
          source_count: await countPlaceSources(tx, key),
          freshness: await freshnessIn(tx, key, dayOf(civic.clock.now()), total),
          issues: new Map(issues.map(({ issue_area, actors }) => [issue_area, { entity_count: actors, actors: listed.get(issue_area)!.flatMap((one) => byKey.get(one) ?? []) }])),
        };
      });
    },
    async placeEvents(placeKey, limit) {
      const { key } = await placeOf(placeKey);
      return actorsOf(civic.db.read, await upcomingIn(civic.db.read, key, civic.clock.iso(), limit, await placeCount(civic.db.read, key, '', 'event') < FEW_EVENTS));
    },
    async placeEntities(request, placeKey, given) {
      const query: PlaceQuery = { sort: 'relevance', ...given };
      const page = pageOf<PlaceQuery>(request, () => positionShape(query));
      const { data, total, next, extra } = await placeEntities(directory, await placeOf(placeKey), { ...page, query }, null);
      return { data: data.map((text) => JSON.parse(text) as Actor), total, next_cursor: next && cursorAfter(request, page, next), ...extra };
    },
    async placeSources(request, placeKey) {
      const page = pageOf(request, PLACE_SOURCE_POSITION);
      const { data, total, next } = await placeSourceList(directory, await placeOf(placeKey), page);
      return { data: data.map((text) => JSON.parse(text) as Source), total, next_cursor: next && cursorAfter(request, page, next) };
    },
    latestSources: async (placeKey, limit) => latestPlaceSources(directory, await placeOf(placeKey), limit),
    async placesOfIssue(slug, limit) {
      const { rows, total } = await largestOfIssue(civic.db.read, slug, limit);
      return { data: rows.map((row) => coveredPlace(places, row)), total };
    },
    async nearbyPlaces(placeKey, limit) {
      const near = await listedPlaces.nearest(civic.db.read, await placeOf(placeKey), limit);
      return near.map(({ place, actors }) => coveredPlace(places, { ...place, actors }));
    },
    async likelyPlaces(text, limit) {
      const comma = text.lastIndexOf(',');
      const name = comma < 0 ? text : text.slice(0, comma);
      // A slug has hyphens for the spaces of its name.
      const spaced = /\s/.test(text) ? text : text.replaceAll('-', ' ');
      const found = (await places.resolve(civic.db.read, spaced, { limit })).map(({ place }) => place);
      const isName = found.length > 1 && found.every(({ squashed }) => squashed === squash(name));
      return { places: found.map((place) => places.recordOf(place)), isName };
    },
  };
}

/** Returns the keys of the actors with most sources of each issue area, without events. Reads as many actors of the place as that takes: most places are small, and in large ones the first few hundred do. */
async function topOfIssues(reader: Reader, place: number, issues: IssueCount[], most: number): Promise<Map<string, number[]>> {
  const listed = new Map(issues.map(({ issue_area }): [string, number[]] => [issue_area, []]));
  const missing = new Map(issues.map(({ issue_area, actors, events }): [string, number] => [issue_area, Math.min(most, actors - events)]).filter(([, count]) => count > 0));
  let after: ListedTags | null = null;
  for (let limit = FIRST_ROWS; missing.size > 0; limit *= 2) {
    const rows: ListedTags[] = await listedBySources(reader, place, after, limit);
    chooseByIssue(rows.map(({ actor_key: key, tags }) => ({ key, tags })), missing, listed);
    if (rows.length < limit) break;
    after = rows.at(-1)!;
  }
  return listed;
}

function topicOf({ slug, name, description }: TaxonomyTopic): TaxonomyTopic {
  return { slug, name, description };
}
