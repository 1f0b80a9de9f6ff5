import type { Caller, Joi, Reader, Tx } from 'civic';
import type { FindLatestRun } from '../actors/runs.ts';
import type { CountWatched } from '../actors/watched.ts';
import { MEETINGS, type ListedMeeting, type ReadMeetings } from '../feeds/meetings.ts';
import type { RelatedEvidence } from '../actors/related.ts';
import type { Actor, ActorDetail } from '../types.ts';
import { actorsByKey, listedWith } from '../actors/read-store.ts';
import type { DemoParts } from '../demo/parts.ts';
import { placeOfPath } from '../places/routes.ts';
import { isAmbiguous } from '../places/resolve.ts';
import { placeRecord, type Place } from '../places/schemas.ts';
import type { Directory } from '../service.ts';
import { offeredAddresses, type AddressReads } from './addresses.ts';
import { offeredAreas, type AreaReads } from './areas.ts';
import { offeredCandidates, type CandidateWrites } from './candidates.ts';
import { offeredExample, type ExampleReads } from './example.ts';
import { offeredHolds, type HoldWrites } from './holds.ts';
import { offeredLinks, type LinkWrites } from './links.ts';
import { offeredMaps, type MapReads } from './maps.ts';
import { offeredEdits, type EditWrites } from './edits.ts';
import { offeredEntries, type EntryReads } from './entries.ts';
import { offeredFinds, type FindReads } from './find.ts';
import { offeredPages, type PageReads } from './pages.ts';
import { offeredPlaces, type PlaceReads } from './places.ts';
import { offeredReads, type ActorWithSources, type Coverage } from './reads.ts';
import { offeredReferences, type ReferenceReads } from './references.ts';
import { offeredSources, type SourceReads } from './sources.ts';
import type { Flagged, Ledger } from '../ledger/service.ts';
import type { PageLinks } from '../links.ts';
import { freshnessTurns, knownActors, ownNames, type FreshnessTurn, type KnownActor } from './actors.ts';

/** The service of this plugin for other plugins. Each function states whether it returns private actors. */
export interface DirectoryService extends AddressReads, AreaReads, CandidateWrites, EditWrites, EntryReads, ExampleReads, FindReads, HoldWrites, LinkWrites, MapReads, PageReads, PlaceReads, ReferenceReads, SourceReads {
  /** Returns the canonical key of a place, by key, slug or synonym; null for any other text. */
  placeKey(reader: Reader, text: string): Promise<string | null>;
  /** Resolves free text as `GET /api/places?query=` does. `place` is null when the text names none for certain; `candidates` are the nearest, likeliest first. */
  resolvePlace(reader: Reader, text: string): Promise<{ place: Place | null; candidates: Place[] }>;
  /** Returns the place of a key in a path, as the API does; otherwise throws the problem `unknown_place` with suggestions. */
  placeOfPath(text: string): Promise<Place>;
  /** The schema of a place in responses, for routes of other plugins. */
  placeSchema: Joi.ObjectSchema;
  /** Returns places by canonical key, without keys that are no place. */
  places(reader: Reader, placeKeys: string[]): Promise<Map<string, Place>>;
  /** Returns the issue areas of a domain; null when there is no such domain. */
  issuesOfDomain(slug: string): string[] | null;
  /** Returns all issue areas, in the order of the taxonomy. */
  issueAreas(): { slug: string; name: string }[];
  /** Returns the name of an issue area; null when there is no such slug. */
  issueName(slug: string): string | null;
  /** Returns the name of an issue area and other words for it; none when there is no such slug. */
  issueTerms(slug: string): string[];
  /** Returns actors with their sources, private ones too, in the order of `ids`. */
  actors(reader: Reader, ids: string[]): Promise<KnownActor[]>;
  /** Returns the names in the actors' own records by id, also of actors that were merged into another. */
  ownNames(reader: Reader, ids: string[]): Promise<Map<string, string>>;
  /** Returns the ids of public actors that work on an issue area in a place, those with most sources first. */
  actorsIn(reader: Reader, placeKey: string, issueArea: string, limit: number): Promise<string[]>;
  /** Searches public actors as `GET /api/entities?query=` does, each with its latest sources. */
  search(query: string, limit: number): Promise<{ actors: ActorWithSources[]; total: number }>;
  /** Returns an actor with its claims and sources. Throws `unknown_actor` when the caller may not see it. */
  detail(id: string, caller: Caller | null): Promise<ActorDetail>;
  /** Returns public actors that are related to an actor, the strongest relation first. Throws as `detail` does. */
  related(id: string, caller: Caller | null, limit: number): Promise<{ entity: Actor; score: number; evidence: RelatedEvidence[] }[]>;
  /** Returns the coverage of a place, as `GET /api/places/{place_key}/coverage` does. Throws as `placeOfPath` does. */
  coverage(place: string): Promise<Coverage>;
  /** Fills `watched_sources` of the coverage of places; called in `register`. Only public sources count. */
  watchedSources(count: CountWatched): void;
  /** Fills `latest_run` of the coverage of places; called in `register`. Only public runs count. */
  latestRun(find: FindLatestRun): void;
  /** Adds public meetings that are no entries to the calendars of places and issue areas; called in `register`. Returns a function to call on every node when some of them changed. */
  listMeetings(read: ReadMeetings): () => void;
  /** Returns the next meetings that `listMeetings` adds, the earliest first: of these places, or of all. */
  comingMeetings(placeKeys: string[] | null, limit: number): Promise<ListedMeeting[]>;
  /** Returns actors, private ones too, whose freshness dropped between two times because no source was retrieved, in the order of their ids after `after`. */
  freshnessTurns(reader: Reader, span: { since: number; until: number; after: string | null; limit: number }): Promise<FreshnessTurn[]>;
  /** Stores how many flags actors and sources have, by id; responses, filters and pages show them once the transaction is committed. Ids that are no longer there are left out. */
  setFlags(tx: Tx, flagged: Flagged): Promise<void>;
  /** Returns which drafts are about people who asked not to be listed. Plugins that collect actors store nothing about them. */
  areUnlisted: Ledger['areUnlisted'];
  /** The URLs that people open: of pages where a plugin declares them, else of the API. */
  links: PageLinks;
  /** Lets other plugins add data to the demo. */
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
    ...offeredPages(directory),
    ...offeredPlaces(directory),
    ...offeredAreas(directory),
    ...offeredMaps(directory),
    ...offeredAddresses(directory),
    ...offeredCandidates(directory),
    ...offeredEdits(directory),
    ...offeredEntries(directory),
    ...offeredExample(directory),
    ...offeredHolds(directory),
    ...offeredLinks(directory),
    ...offeredReferences(directory),
    ...offeredSources(directory),
    links: directory.links,
    ...offeredFinds(directory),
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
    issueAreas: () => taxonomy().issueAreas.map(({ slug, name }) => ({ slug, name })),
    issueName: (slug) => taxonomy().issueAreaBySlug(slug)?.name ?? null,
    issueTerms(slug) {
      const area = taxonomy().issueAreaBySlug(slug);
      return area ? [area.name, ...area.search_terms] : [];
    },
    actors: (reader, ids) => knownActors(reader, ids, civic.clock.now(), directory.policy),
    ownNames,
    async actorsIn(reader, placeKey, issueArea, limit) {
      const place = (await places.byKeys(reader, [placeKey])).get(placeKey);
      const rows = place ? await listedWith(reader, place.key, [`i:${issueArea}`], limit) : [];
      return (await actorsByKey(reader, rows.map(({ actor_key }) => actor_key))).map(({ id }) => id);
    },
    freshnessTurns,
    watchedSources: directory.watched.fill,
    latestRun: directory.runs.fill,
    listMeetings(read) {
      directory.meetings.fill(read);
      return () => directory.ready.touch([MEETINGS]);
    },
    comingMeetings: (placeKeys, limit) => directory.meetings.read(civic.db.read, { ...(placeKeys && { places: placeKeys }), since: civic.clock.iso(), limit }),
    areUnlisted: directory.ledger.areUnlisted,
    setFlags: directory.ledger.setFlags,
    demo,
  };
}
