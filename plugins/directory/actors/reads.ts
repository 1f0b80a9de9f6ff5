import { isId, problem, singleLine, type Caller, type Page, type Position, type PositionShape, type Reader, type TextList } from 'civic';
import { maySee, readingCaller, workspaceAsked, workspaceBeside } from '../access.ts';
import { actorRecord } from '../ledger/edit.ts';
import { listActors, type ListRequest } from '../search/list.ts';
import type { ActorDetail, FreshnessStatus, Visibility } from '../types.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { actorTexts, backingOf, claimPosition, type Include, type Shown } from './detail.ts';
import { dayOf } from './freshness.ts';
import { actorById, actorsByKey, versionOf, type ShownActor } from './read-store.ts';
import { suggestionsFor } from './suggestions.ts';
import type { Telling } from './wire.ts';

/** Reads of actors, which routes, tools and the service share. */

export interface EntityQuery {
  query?: string;
  state?: string;
  place?: string[];
  entity_type?: string[];
  issue_area?: string[];
  freshness?: FreshnessStatus[];
  has_flags?: boolean;
  visibility?: Visibility;
  sort: ListRequest['sort'];
  include?: string;
  facets: boolean;
}

/** What pages ask for besides. */
export interface PageQuery extends EntityQuery {
  /** Whether words stay as they are, also when nothing is found. */
  isExact?: boolean;
  /** Whether facets count the freshness, too. */
  hasFreshnessFacet?: boolean;
}

/** A list, and whether it may contain private records of the caller's workspace. */
export interface ReadList extends TextList {
  isPrivate: boolean;
}

export function included(include: string | undefined): Include[] {
  return include ? (include.split(',') as Include[]) : [];
}

/** Returns the filters as tags: an actor must have one tag of each. A name that does not exist matches nothing. */
export async function filtersOf(context: DirectoryContext, query: Pick<EntityQuery, 'state' | 'place' | 'entity_type' | 'issue_area' | 'has_flags'>): Promise<{ any: string[] }[]> {
  const filters: { any: string[] }[] = [];
  if (query.state) filters.push({ any: [`s:${query.state}`] });
  if (query.entity_type) filters.push({ any: query.entity_type.map((type) => `t:${type}`) });
  if (query.issue_area) filters.push({ any: query.issue_area.map((slug) => `i:${slug}`) });
  if (query.has_flags !== undefined) filters.push({ any: [query.has_flags ? 'f:open' : 'f:none'] });
  if (query.place) {
    const places = await Promise.all(query.place.map((key) => context.places.byKey(context.civic.db.read, key)));
    filters.push({ any: places.flatMap((place) => (place ? [`p:${place.key}`] : [])) });
  }
  return filters;
}

/** Returns the shape of positions in a list of actors: the value by which it is sorted, and the key. */
export function positionShape({ query, sort }: Pick<EntityQuery, 'query' | 'sort'>): PositionShape {
  if (query !== undefined && sort === 'relevance') return ['scalar', 'integer'];
  return [sort === 'source_count' ? 'integer' : 'text', 'integer'];
}

async function listRequest(context: DirectoryContext, query: PageQuery, workspace: string | null): Promise<Omit<ListRequest, 'limit' | 'after'>> {
  const day = dayOf(context.civic.clock.now());
  return {
    query: query.query ?? null,
    filters: await filtersOf(context, query),
    ...(query.freshness && { freshness: { statuses: query.freshness, day } }),
    workspace,
    facets: query.facets,
    ...(query.hasFreshnessFacet && { facetDay: day }),
    isExact: query.isExact,
    sort: query.sort,
  };
}

const WALKED_AT_ONCE = 100;

/** Returns the keys of all actors that a search finds, in its order, a page at a time. */
export async function* foundKeys(context: DirectoryContext, reader: Reader, query: EntityQuery, workspace: string | null): AsyncIterable<number[]> {
  const asked = await listRequest(context, query, workspace);
  for (let after: Position | null = null; ;) {
    const { keys, next } = await listActors(reader, { ...asked, limit: WALKED_AT_ONCE, after }, context.columns);
    yield keys;
    if (next === null) return;
    after = next;
  }
}

/** Returns the keys of the public actors that a search finds and that were added or changed most recently. */
export async function recentKeys(context: DirectoryContext, reader: Reader, query: Omit<EntityQuery, 'sort' | 'facets'>, limit: number): Promise<number[]> {
  const asked = await listRequest(context, { ...query, sort: 'recent', facets: false }, null);
  return (await listActors(reader, { ...asked, limit, after: null }, context.columns)).keys;
}

/** Searches for actors. */
export async function searchEntities(context: DirectoryContext, { query, limit, after }: Page<PageQuery>, caller: Caller | null, shown: Shown = { include: included(query.include) }): Promise<ReadList> {
  const workspace = workspaceAsked(caller, query.visibility);
  const asked = { ...await listRequest(context, query, workspace), limit, after: after as Position | null };
  const { texts, found } = await context.civic.db.snapshot(async (tx) => {
    const found = await listActors(tx, asked, context.columns);
    const rows = await actorsByKey(tx, found.keys);
    return { found, texts: await actorTexts(tx, rows, shown, tellingOf(context), workspace) };
  });
  const suggestions = await suggestionsFor(context, query);
  const extra = { ...(found.facets && { facets: found.facets }), ...(found.corrected.length > 0 && { corrected: found.corrected }), ...(suggestions.length > 0 && { suggestions }) };
  return { data: texts, total: found.total, next: found.next, extra, isPrivate: workspace !== null };
}

/** Returns the actor of an id. Throws `unknown_actor` when the caller may not see it, with `merged_into` when it was merged. */
export async function shownActor(reader: Reader, caller: Caller | null, id: string, url: Telling['url']): Promise<ShownActor> {
  const reading = readingCaller(caller);
  const found = isId(id) ? await actorById(reader, id.toLowerCase()) : undefined;
  if (found && maySee(found, reading)) return found;
  if (!found) await actorRecord(reader, id, url, (successor) => maySee(successor, reading));
  throw problem('unknown_actor', { detail: `No actor has the id ${singleLine(id, 100)}.` });
}

/** Returns an actor with its claims and sources as JSON, all of one version. */
export async function actorDetail(context: DirectoryContext, find: (reader: Reader) => Promise<ShownActor>): Promise<{ actor: ShownActor; body: string }> {
  const { db } = context.civic;
  const read = async (reader: Reader) => {
    const actor = await find(reader);
    const [body] = await actorTexts(reader, [actor], { include: ['claims', 'sources'] }, tellingOf(context), workspaceBeside(actor));
    return { actor, body: body! };
  };
  const first = await read(db.read);
  // A snapshot costs as much as the reads in it. It is used only when the actor changed between the reads, which is rare.
  return await versionOf(db.read, first.actor.key) === first.actor.version ? first : db.snapshot(read);
}

/** Returns an actor with its claims and sources, and the position of each claim, all of one version. */
export function actorWithPositions(context: DirectoryContext, find: (reader: Reader) => Promise<ShownActor>): Promise<{ detail: ActorDetail; positions: number[][] }> {
  return context.civic.db.snapshot(async (tx) => {
    const actor = await find(tx);
    const [body] = await actorTexts(tx, [actor], { include: ['claims', 'sources'] }, tellingOf(context), workspaceBeside(actor));
    const { claims } = (await backingOf(tx, [actor], context.policy)).get(actor.key)!;
    return { detail: JSON.parse(body!) as ActorDetail, positions: claims.map((claim) => claimPosition(actor.key, claim)) };
  });
}
