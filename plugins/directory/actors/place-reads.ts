import { type Caller, type Page, type Position, type Reader, type TextList } from 'civic';
import { workspaceAsked } from '../access.ts';
import { sourcesByKey } from '../ledger/store.ts';
import type { PlaceRow } from '../places/service.ts';
import { listActors } from '../search/list.ts';
import type { ActorType, Source, Visibility } from '../types.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { readCoverage, type CoverageSummary } from './coverage.ts';
import { actorTexts, type Shown } from './detail.ts';
import { actorsByKey, countListings, countPlaceSources, placeCount, placeListing, placePage, placeSources, positionOf, type PlaceSort } from './read-store.ts';
import { filtersOf, included, type ReadList } from './reads.ts';
import { sourceRecords } from './sources.ts';
import { suggestionsFor } from './suggestions.ts';
import { actorText, withMembers } from './wire.ts';

/** Reads of places, which routes, tools and the service share. */

export interface PlaceQuery {
  issue_area?: string[];
  entity_type?: ActorType[];
  query?: string;
  sort: 'relevance' | PlaceSort;
  include?: string;
  visibility?: Visibility;
}

type PlacePage = Page<PlaceQuery>;

/** Returns the actors of a place. */
export async function placeEntities(context: DirectoryContext, place: PlaceRow, page: PlacePage, caller: Caller | null, shown: Shown = { include: included(page.query.include) }): Promise<ReadList> {
  const workspace = workspaceAsked(caller, page.query.visibility);
  const list = isPlain(page.query, workspace, shown) ? await plainList(context, place, page) : await context.civic.db.snapshot(async (tx) => {
    const found = page.query.query ? await searchedIn(context, tx, place, page, workspace) : await listedIn(context, tx, place, page, workspace);
    const rows = await actorsByKey(tx, found.keys);
    return { ...found, data: await actorTexts(tx, rows, shown, tellingOf(context), workspace) };
  });
  const suggestions = await suggestionsFor(context, { issue_area: page.query.issue_area });
  const extra = { place: context.places.recordOf(place), ...(list.corrected && list.corrected.length > 0 && { corrected: list.corrected }), ...(suggestions.length > 0 && { suggestions }) };
  return { data: list.data, total: list.total, next: list.next, extra, isPrivate: workspace !== null };
}

interface Found {
  keys: number[];
  total: number;
  next: Position | null;
  corrected?: { from: string; to: string }[];
}

async function searchedIn(context: DirectoryContext, reader: Reader, place: PlaceRow, { query, limit, after }: PlacePage, workspace: string | null): Promise<Found> {
  const filters = [{ any: [`p:${place.key}`] }, ...await filtersOf(context, query)];
  return listActors(reader, { query: query.query!, filters, workspace, sort: query.sort, limit, after }, context.columns);
}

async function listedIn(context: DirectoryContext, reader: Reader, place: PlaceRow, { query, limit, after }: PlacePage, workspace: string | null): Promise<Found> {
  const sort = query.sort === 'relevance' ? 'name' : query.sort;
  const filters = (await filtersOf(context, query)).map(({ any }) => any);
  const rows = await placeListing(reader, { place: place.key, filters, workspaceId: workspace, sort, limit, after: after as (string | number)[] | null });
  const shown = rows.slice(0, limit);
  return {
    keys: shown.map(({ actor_key }) => actor_key),
    total: await totalIn(reader, place.key, query, filters, workspace),
    next: rows.length > limit ? positionOf(shown.at(-1)!, sort) : null,
  };
}

/** Returns whether the database has a counter of this total. */
function hasCounter({ issue_area = [], entity_type = [] }: PlaceQuery, workspace: string | null): boolean {
  return !workspace && issue_area.length <= 1 && entity_type.length <= 1;
}

async function totalIn(reader: Reader, place: number, query: PlaceQuery, filters: string[][], workspace: string | null): Promise<number> {
  if (!hasCounter(query, workspace)) return countListings(reader, { place, filters, workspaceId: workspace });
  return placeCount(reader, place, query.issue_area?.[0] ?? '', query.entity_type?.[0] ?? '');
}

/** Returns whether one statement reads the list, without a snapshot. Most requests are such. */
function isPlain(query: PlaceQuery, workspace: string | null, { include }: Shown): boolean {
  return !query.query && include.length === 0 && hasCounter(query, workspace);
}

async function plainList(context: DirectoryContext, place: PlaceRow, { query, limit, after }: PlacePage) {
  const reader = context.civic.db.read;
  const sort = query.sort === 'relevance' ? 'name' : query.sort;
  const filters = (await filtersOf(context, query)).map(({ any }) => any);
  const kept = { issueArea: query.issue_area?.[0] ?? '', type: query.entity_type?.[0] ?? '' };
  const { rows, total } = await placePage(reader, { place: place.key, filters, sort, limit, after: after as (string | number)[] | null }, kept);
  const shown = rows.slice(0, limit);
  return {
    data: shown.map((row) => actorText(row, tellingOf(context))),
    total: total ?? await placeCount(reader, place.key, kept.issueArea, kept.type),
    next: rows.length > limit ? positionOf(shown.at(-1)!, sort) : null,
    corrected: [],
  };
}

/** Returns the sources that public actors of a place cite, the latest retrieved first, and their internal keys. */
export async function placeSourceList(context: DirectoryContext, place: PlaceRow, { limit, after }: Pick<Page, 'limit' | 'after'>): Promise<TextList & { keys: number[] }> {
  const { records, keys, total, next } = await context.civic.db.snapshot(async (tx) => {
    const rows = await placeSources(tx, place.key, after as (string | number)[] | null, limit);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const cited = await sourcesInOrder(context, tx, shown);
    return {
      keys: shown.map(({ source_key }) => source_key),
      records: cited,
      total: await countPlaceSources(tx, place.key) - (shown.length - cited.length),
      next: rows.length > limit ? [last!.retrieved_at, last!.source_key] : null,
    };
  });
  return { data: records.map((record) => JSON.stringify(record)), total, next, extra: { place: context.places.recordOf(place) }, keys };
}

/** Returns the latest retrieved of these sources, without their number: a large place has a hundred thousand. */
export async function latestPlaceSources(context: DirectoryContext, place: PlaceRow, limit: number): Promise<Source[]> {
  return context.civic.db.snapshot(async (tx) => sourcesInOrder(context, tx, (await placeSources(tx, place.key, null, limit)).slice(0, limit)));
}

/** Leaves out sources that only hidden claims cite: a place has them until the rows of another field policy are rebuilt. */
async function sourcesInOrder(context: DirectoryContext, reader: Reader, rows: { source_key: number }[]): Promise<Source[]> {
  const byKey = new Map((await sourcesByKey(reader, rows.map(({ source_key }) => source_key))).map((row) => [row.key, row]));
  return (await sourceRecords(reader, rows.map(({ source_key }) => byKey.get(source_key)!), tellingOf(context))).filter(({ entity_ids }) => entity_ids.length > 0);
}

/** Returns the coverage of a place as JSON, and the same JSON without `generated_at`, for the ETag. */
export async function placeCoverage({ civic, places, taxonomy, watched, runs }: DirectoryContext, place: PlaceRow): Promise<{ body: string; timeless: string; summary: CoverageSummary }> {
  const others = { watched: await watched.count(civic.db.read, place.place_key), run: await runs.latest(civic.db.read, place.place_key) };
  const { text: timeless, summary } = await readCoverage(civic.db.read, places.recordOf(place), place.key, taxonomy(), civic.clock.now(), others);
  return { summary, timeless, body: withMembers(timeless, { generated_at: JSON.stringify(civic.clock.iso()) }) };
}
