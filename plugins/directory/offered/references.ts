import { isId, type Caller, type Reader } from 'civic';
import { maySee, readingCaller } from '../access.ts';
import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { actorsByIds } from '../actors/read-store.ts';
import { sourceRecords } from '../actors/sources.ts';
import { countsOfPlaces } from '../actors/store.ts';
import { recordsById, recordsByKey, sourcesById } from '../ledger/store.ts';
import type { Actor, ActorType, Source, Visibility } from '../types.ts';
import { ownNames } from './actors.ts';

/** Reads for plugins that keep ids of actors and sources. */
export interface ReferenceReads {
  /** Returns what ids of actors refer to now, by id. Ids of actors that the caller may not see, and texts that are no id, are left out. */
  actorReferences(reader: Reader, ids: string[], caller: Caller): Promise<Map<string, ActorReference>>;
  /** Returns the sources of these ids that a visible actor cites, by id. */
  sourceReferences(reader: Reader, ids: string[], caller: Caller): Promise<Map<string, SourceReference>>;
  /** Returns the same sources with their freshness and the state of their addresses. */
  citedSources(reader: Reader, ids: string[], caller: Caller): Promise<Map<string, CitedSource>>;
  /** Returns how many public actors work on each issue area in these places; issue areas without any are left out. */
  issueCountsIn(reader: Reader, placeKeys: string[]): Promise<IssueCounts>;
}

/** How many public actors work on issue areas of places, by place key and slug. */
export type IssueCounts = Map<string, Map<string, number>>;

export type ActorReference = CurrentReference | MergedReference | DeletedReference;

export interface CurrentReference {
  state: 'current';
  name: string;
  type: ActorType;
  visibility: Visibility;
}

export interface MergedReference {
  state: 'merged';
  /** The name of the record that was merged. */
  name: string | null;
  /** The actor that it is part of now. */
  into: string;
}

export interface DeletedReference {
  state: 'deleted';
  at: string;
}

export interface SourceReference {
  url: string;
  title: string | null;
  publication: string | null;
}

/** A source, and whether a public actor cites it. */
export type CitedSource = Source & { visibility: Visibility };

export function offeredReferences(context: DirectoryContext): ReferenceReads {
  const { places } = context;
  return {
    async actorReferences(reader, ids, caller) {
      const viewer = readingCaller(caller);
      const found = new Map<string, ActorReference>();
      const wanted = [...new Set(ids.filter(isId).map((id) => id.toLowerCase()))];
      for (const row of await actorsByIds(reader, wanted)) {
        if (!maySee(row, viewer)) continue;
        const { name, type, visibility } = JSON.parse(row.body) as Actor;
        found.set(row.id, { state: 'current', name, type, visibility });
      }
      const others = (await recordsById(reader, wanted.filter((id) => !found.has(id)))).filter((record) => maySee(record, viewer));
      const merged = others.filter(({ deleted_at, key, actor_key }) => deleted_at === null && key !== actor_key);
      const successors = new Map((await recordsByKey(reader, merged.map(({ actor_key }) => actor_key))).map((record) => [record.key, record]));
      const names = await ownNames(reader, merged.map(({ id }) => id));
      for (const { id, deleted_at } of others) if (deleted_at !== null) found.set(id, { state: 'deleted', at: deleted_at });
      for (const { id, actor_key } of merged) {
        const into = successors.get(actor_key);
        if (into && into.deleted_at === null && maySee(into, viewer)) found.set(id, { state: 'merged', name: names.get(id) ?? null, into: into.id });
      }
      return found;
    },
    async sourceReferences(reader, ids, caller) {
      const viewer = readingCaller(caller);
      const wanted = [...new Set(ids.filter(isId).map((id) => id.toLowerCase()))];
      const rows = (await sourcesById(reader, wanted)).filter(({ workspace_id }) => workspace_id === null || workspace_id === viewer?.workspace_id);
      const shown = await sourceRecords(reader, rows, tellingOf(context), viewer?.workspace_id ?? null);
      return new Map(shown.filter(({ entity_ids }) => entity_ids.length > 0).map(({ id, url, title, publication }) => [id, { url, title, publication }]));
    },
    async citedSources(reader, ids, caller) {
      const viewer = readingCaller(caller);
      const wanted = [...new Set(ids.filter(isId).map((id) => id.toLowerCase()))];
      const rows = (await sourcesById(reader, wanted)).filter(({ workspace_id }) => workspace_id === null || workspace_id === viewer?.workspace_id);
      const isPublic = new Set((await sourceRecords(reader, rows.filter(({ workspace_id }) => workspace_id === null), tellingOf(context))).filter(({ entity_ids }) => entity_ids.length > 0).map(({ id }) => id));
      const shown = await sourceRecords(reader, rows, tellingOf(context), viewer?.workspace_id ?? null);
      return new Map(shown.filter(({ entity_ids }) => entity_ids.length > 0).map((source) => [source.id, { ...source, visibility: isPublic.has(source.id) ? 'public' : 'workspace' }]));
    },
    async issueCountsIn(reader, placeKeys) {
      const found = new Map([...await places.byKeys(reader, placeKeys)].map(([placeKey, { key }]) => [Number(key), placeKey]));
      const counts: IssueCounts = new Map([...found.values()].map((placeKey) => [placeKey, new Map()]));
      for (const { place, issue_area, actors } of await countsOfPlaces(reader, [...found.keys()])) counts.get(found.get(Number(place))!)!.set(issue_area, Number(actors));
      return counts;
    },
  };
}
