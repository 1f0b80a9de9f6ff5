import type { Caller, Joi, Reader } from 'civic';
import type { RelatedEvidence } from '../actors/related.ts';
import type { Actor, ActorDetail } from '../types.ts';
import { actorsByKey, listedWith } from '../actors/read-store.ts';
import type { DemoParts } from '../demo/parts.ts';
import { placeOfPath } from '../places/routes.ts';
import { isAmbiguous } from '../places/resolve.ts';
import { placeRecord, type Place } from '../places/schemas.ts';
import type { Directory } from '../service.ts';
import { offeredReads, type ActorWithSources, type Coverage } from './reads.ts';
import { freshnessTurns, knownActors, ownNames, type FreshnessTurn, type KnownActor } from './actors.ts';

/** What other plugins may ask of the directory. Public or private: see each. */
export interface DirectoryService {
  /** The canonical key of a place, by key, slug or a synonym of one; null when it is no place. */
  placeKey(reader: Reader, text: string): Promise<string | null>;
  /** Resolves free text as `GET /api/places?query=` does. `place` is null when the text names none for certain; `candidates` are the nearest, likeliest first. */
  resolvePlace(reader: Reader, text: string): Promise<{ place: Place | null; candidates: Place[] }>;
  /** The place a path names, as it is answered; else it throws the 404 that says what could have been meant. */
  placeOfPath(text: string): Promise<Place>;
  /** Of a place as it is answered, for routes of others. */
  placeSchema: Joi.ObjectSchema;
  /** By canonical keys; those that are no place are left out. */
  places(reader: Reader, placeKeys: string[]): Promise<Map<string, Place>>;
  /** The issue areas of a domain; null when it is none. */
  issuesOfDomain(slug: string): string[] | null;
  /** What an issue area is called; null when there is none of that slug. */
  issueName(slug: string): string | null;
  /** Actors with what they stand on, private ones among them, in the order of their ids. */
  actors(reader: Reader, ids: string[]): Promise<KnownActor[]>;
  /** What actors were called by themselves, also those that were merged into another, by id. */
  ownNames(reader: Reader, ids: string[]): Promise<Map<string, string>>;
  /** Ids of public actors who work on an issue area in a place, those with most sources first. */
  actorsIn(reader: Reader, placeKey: string, issueArea: string, limit: number): Promise<string[]>;
  /** Searches public actors as `GET /api/entities?query=` does, each with its latest sources. */
  search(query: string, limit: number): Promise<{ actors: ActorWithSources[]; total: number }>;
  /** One actor with its claims and sources, if the caller may see it; else it throws the 404. */
  detail(id: string, caller: Caller | null): Promise<ActorDetail>;
  /** Public actors that have to do with an actor, the strongest relation first; 404 as `detail`. */
  related(id: string, caller: Caller | null, limit: number): Promise<{ entity: Actor; score: number; evidence: RelatedEvidence[] }[]>;
  /** What is known of a place and what is missing, as `GET /api/places/{place_key}/coverage` has it; 404 as `placeOfPath`. */
  coverage(place: string): Promise<Coverage>;
  /** Actors, private ones among them, whose freshness became another between two moments because nobody looked at them, after an id. */
  freshnessTurns(reader: Reader, span: { since: number; until: number; after: string | null; limit: number }): Promise<FreshnessTurn[]>;
  /** Others add to the invented region what they have to show. */
  demo: DemoParts;
}

declare module 'civic' {
  interface Services { directory: DirectoryService }
}

const CANDIDATES = 5;

export function offeredBy(directory: Directory, demo: DemoParts): DirectoryService {
  const { civic, places, taxonomy } = directory;
  return {
    ...offeredReads(directory),
    placeKey: async (reader, text) => (await places.byKey(reader, text))?.place_key ?? null,
    async resolvePlace(reader, text) {
      const found = await places.resolve(reader, text, { limit: CANDIDATES });
      const candidates = found.map(({ place }) => places.recordOf(place));
      return { place: isAmbiguous(found) ? null : candidates[0] ?? null, candidates };
    },
    placeOfPath: async (text) => places.recordOf(await placeOfPath(places, civic.db, text)),
    placeSchema: placeRecord,
    places: async (reader, keys) => new Map([...await places.byKeys(reader, keys)].map(([key, place]) => [key, places.recordOf(place)])),
    issuesOfDomain: (slug) => taxonomy().domainBySlug(slug)?.issue_areas.map((area) => area.slug) ?? null,
    issueName: (slug) => taxonomy().issueAreaBySlug(slug)?.name ?? null,
    actors: (reader, ids) => knownActors(reader, ids, civic.clock.now()),
    ownNames,
    async actorsIn(reader, placeKey, issueArea, limit) {
      const place = (await places.byKeys(reader, [placeKey])).get(placeKey);
      const rows = place ? await listedWith(reader, place.key, [`i:${issueArea}`], limit) : [];
      return (await actorsByKey(reader, rows.map(({ actor_key }) => actor_key))).map(({ id }) => id);
    },
    freshnessTurns,
    demo,
  };
}
