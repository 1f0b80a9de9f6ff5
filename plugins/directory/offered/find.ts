import { actorsByKey } from '../actors/read-store.ts';
import { tellingOf } from '../actors/context.ts';
import { actorText } from '../actors/wire.ts';
import { upcomingEvents } from './store.ts';
import type { ListedPlace } from '../places/listed.ts';
import { squash } from '../places/names.ts';
import { namedPlaces } from '../places/resolve.ts';
import type { CoveredPlace } from '../places/schemas.ts';
import type { PlaceRow } from '../places/service.ts';
import { stateByAbbreviation } from '../places/states.ts';
import { placesByPrefix } from '../places/store.ts';
import { topActors } from '../search/top.ts';
import type { Directory } from '../service.ts';
import { createCompleter } from '../taxonomy/complete.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { Actor } from '../types.ts';
import type { TaxonomyIssue } from './pages.ts';

/** Reads for search boxes and the home page. All of them return public data only. */
export interface FindReads {
  /** Returns places that a text names exactly, then those whose name starts with it; places with actors come first. */
  placesLike(text: string, limit: number): Promise<CoveredPlace[]>;
  /** Returns issue areas by the beginning of a name or a search term, or by what the text is about. `nameOf` returns the name that the reader knows. */
  issuesLike(text: string, limit: number, nameOf: (issue: { slug: string; name: string; description: string }) => string): Promise<TaxonomyIssue[]>;
  /** Returns the first actors that match a text, as `GET /api/entities?query=` orders them, without corrections. */
  actorsLike(text: string, limit: number): Promise<Actor[]>;
  /** Returns the places that have most actors. */
  largestPlaces(limit: number): Promise<CoveredPlace[]>;
  /** Returns the next events, the earliest first. */
  upcomingEvents(limit: number): Promise<Actor[]>;
  /** Returns the name of a state by its abbreviation; null when there is no such state. */
  stateName(abbreviation: string): string | null;
  /** Returns the number of actors, and of places that have any. */
  totals(): Promise<{ actors: number; places: number }>;
}

/** Shorter beginnings are those of too many places. */
const SHORTEST_UNLISTED = 3;
const MOST_NAMED = 10;

export function offeredFinds(directory: Directory): FindReads {
  const { civic, columns, issueCounts, listedPlaces, places, taxonomy } = directory;
  let completed: { taxonomy: Taxonomy; find: ReturnType<typeof createCompleter> } | null = null;
  const counted = ({ place, actors }: ListedPlace): CoveredPlace => ({ ...places.recordOf(place), entity_count: actors });
  const actorsOf = async (keys: number[]): Promise<Actor[]> => (await actorsByKey(civic.db.read, keys)).map((row) => JSON.parse(actorText(row, tellingOf(directory))) as Actor);

  function issueFinder(): ReturnType<typeof createCompleter> {
    const current = taxonomy();
    if (completed?.taxonomy !== current) completed = { taxonomy: current, find: createCompleter(current.issueAreas, current.resolveIssueAreas) };
    return completed.find;
  }

  return {
    async placesLike(text, limit) {
      const reader = civic.db.read;
      const withCount = async (rows: PlaceRow[]): Promise<ListedPlace[]> => Promise.all(rows.map(async (place) => ({ place, actors: await listedPlaces.count(reader, place.key) })));
      const found = new Map<number, ListedPlace>();
      const add = (some: ListedPlace[]) => { for (const one of some) if (!found.has(one.place.key) && found.size < limit) found.set(one.place.key, one); };
      const named = await withCount(await namedPlaces(reader, text, MOST_NAMED));
      add(named.toSorted((a, b) => Number(b.actors > 0) - Number(a.actors > 0)));
      const { start, isInRegion } = beginning(text);
      if (start === '') return [...found.values()].map(counted);
      if (found.size < limit) add((await listedPlaces.startingWith(reader, start, MOST_NAMED)).filter(({ place }) => isInRegion(place)));
      if (found.size < limit && start.length >= SHORTEST_UNLISTED) add(await withCount((await placesByPrefix(reader, start, {}, MOST_NAMED)).filter(isInRegion)));
      return [...found.values()].map(counted);
    },
    async issuesLike(text, limit, nameOf) {
      const counts = await issueCounts();
      return issueFinder()(text, nameOf).slice(0, limit).map(({ slug, name, description, domain }) => ({
        slug, name, description, entity_count: counts.get(slug) ?? 0, domain: { slug: domain.slug, name: domain.name, description: domain.description },
      }));
    },
    actorsLike: async (text, limit) => actorsOf(await topActors(civic.db.read, text, limit, columns)),
    largestPlaces: async (limit) => (await listedPlaces.largest(civic.db.read, limit)).map(counted),
    upcomingEvents: async (limit) => actorsOf(await upcomingEvents(civic.db.read, civic.clock.iso(), limit)),
    stateName: (abbreviation) => stateByAbbreviation(abbreviation)?.name ?? null,
    async totals() {
      await columns.ready();
      return { actors: columns.size, places: await listedPlaces.size(civic.db.read) };
    },
  };
}

/** Reads "Kansas City, m" as the beginning of a name, and of the state. */
function beginning(text: string): { start: string; isInRegion(place: PlaceRow): boolean } {
  const [name = '', region = ''] = text.split(',');
  const wanted = region.trim().toLowerCase();
  return {
    start: squash(name),
    isInRegion({ state, admin1 }) {
      if (wanted === '') return true;
      const names = [state, state && stateByAbbreviation(state)?.name, admin1];
      return names.some((one) => one?.toLowerCase().startsWith(wanted));
    },
  };
}
