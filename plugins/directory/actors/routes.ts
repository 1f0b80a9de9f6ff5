import type { Request, ServerRoute } from '@hapi/hapi';
import { isId, Joi, listText, pageOf, problem, textAnswer, textEtag, type Position, type PositionShape, type Reader } from 'civic';
import { callerOf, maySee, workspaceAsked, workspaceBeside } from '../access.ts';
import { actorRecord } from '../ledger/edit.ts';
import { listActors, type ListRequest } from '../search/list.ts';
import { ACTOR_TYPES, FRESHNESS, type FreshnessStatus, type Visibility } from '../types.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { actorTexts, type Include } from './detail.ts';
import { dayOf } from './freshness.ts';
import { actorById, actorsBySlug, actorsByKey, versionOf, type ShownActor } from './read-store.ts';
import { suggestionsFor } from './suggestions.ts';
import type { Telling } from './wire.ts';
import { actorDetailSchema, actorSchema, correctedSchema, facetsSchema, includeParameter, listOf, paging, suggestionsSchema } from './schemas.ts';

interface EntityQuery {
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

const several = (item: Joi.Schema) => Joi.array().items(item).single().max(50);

const entityQuery = Joi.object({
  query: Joi.string().trim().max(300).description('Words of the name, description, places and affiliations; the last one may be the beginning of a word'),
  state: Joi.string().trim().max(10).lowercase().description('Abbreviation, such as MO'),
  place: several(Joi.string().max(200)).description('Place key or slug; repeatable'),
  entity_type: several(Joi.string().valid(...ACTOR_TYPES)).description('Type of actor; repeatable'),
  issue_area: several(Joi.string().max(100)).description('Slug; repeatable'),
  freshness: several(Joi.string().valid(...FRESHNESS)).description('How recently its sources were seen; repeatable'),
  has_flags: Joi.boolean().description('Only actors with open flags, or only those without'),
  visibility: Joi.string().valid('public', 'workspace').description('`workspace` adds what belongs to your own'),
  sort: Joi.string().valid('relevance', 'name', 'recent', 'source_count').default('relevance').description('Without a query, relevance is the name'),
  include: includeParameter,
  facets: Joi.boolean().default(false).description('Adds counts by type, issue area and state'),
  ...paging,
});

export function entityRoutes(context: DirectoryContext): ServerRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/entities',
      options: {
        description: 'Search for actors',
        notes: 'An actor must match all filters, and one of the values of each. An unknown place or issue area matches nothing and is listed in `suggestions`. Words with a typing error are corrected when nothing else is found, and named in `corrected`. The response is the same for all callers; only `visibility=workspace` depends on the caller.',
        validate: { query: entityQuery },
        plugins: { civic: { conditional: true, problems: ['invalid_cursor', 'authentication_required', 'insufficient_scope'] } },
        response: { schema: listOf(actorSchema, { facets: facetsSchema, corrected: correctedSchema, suggestions: suggestionsSchema }).meta({ name: 'ActorList' }), sample: 0 },
      },
      handler: (request, h) => searchEntities(context, request).then((made) => textAnswer(request, h, made)),
    },
    {
      method: 'GET',
      path: '/api/entities/{id}',
      options: {
        description: 'One actor with its claims and sources',
        notes: 'Each field of the actor is derived from its claims, and each claim has its source. A deleted or unknown id is 404; that of a merged actor is 404 with `merged_into`.',
        validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) },
        plugins: { civic: { conditional: true, problems: ['unknown_actor'] } },
        ext: { onPostAuth: { method: context.ready.hit } },
        response: { schema: actorDetailSchema, sample: 0 },
      },
      handler: (request, h) => answerDetail(context, request, h, (reader) => shownActor(reader, request, String(request.params.id), context.civic.url)),
    },
    {
      method: 'GET',
      path: '/api/entities/by-slug/{slug}',
      options: {
        description: 'One actor by its slug',
        notes: 'The same as by id; `Content-Location` has the address by id.',
        validate: { query: Joi.object({}), params: Joi.object({ slug: Joi.string() }) },
        plugins: { civic: { conditional: true, problems: ['unknown_actor'] } },
        ext: { onPostAuth: { method: context.ready.hit } },
        response: { schema: actorDetailSchema, sample: 0 },
      },
      handler: (request, h) => answerDetail(context, request, h, async (reader) => {
        const found = (await actorsBySlug(reader, String(request.params.slug))).find((one) => maySee(one, callerOf(request)));
        if (!found) throw problem('unknown_actor', { detail: `No actor has the slug "${String(request.params.slug).slice(0, 100)}".` });
        return found;
      }),
    },
  ];
}

/** The actor behind an id, if the caller may see it; else 404, with its successor when it was merged. */
export async function shownActor(reader: Reader, request: Request, id: string, url: Telling['url']): Promise<ShownActor> {
  const found = isId(id) ? await actorById(reader, id.toLowerCase()) : undefined;
  if (found && maySee(found, callerOf(request))) return found;
  if (!found) await actorRecord(reader, id, url, (successor) => maySee(successor, callerOf(request)));
  throw problem('unknown_actor', { detail: `No actor has the id ${id.slice(0, 100)}.` });
}

async function answerDetail(context: DirectoryContext, request: Request, h: Parameters<typeof textAnswer>[1], find: (reader: Reader) => Promise<ShownActor>) {
  const { db } = context.civic;
  const read = async (reader: Reader) => {
    const actor = await find(reader);
    const [body] = await actorTexts(reader, [actor], ['claims', 'sources'], tellingOf(context), workspaceBeside(actor));
    return { actor, body: body! };
  };
  const made = async () => {
    const first = await read(db.read);
    // A transaction costs as much as the reads in it: it is for the rare time that the actor changed between them.
    const { actor, body } = await versionOf(db.read, first.actor.key) === first.actor.version ? first : await db.snapshot(read);
    return { actor, body, etag: textEtag(body), headers: { 'content-location': context.civic.url(`/api/entities/${actor.id}`) } };
  };
  if (callerOf(request) && (await find(db.read)).visibility !== 'public') {
    const { body, etag, headers } = await made();
    return textAnswer(request, h, { body, etag, headers, cacheControl: 'private, no-store' });
  }
  return context.ready.answer(request, h, 'details', async () => {
    const { actor, body, etag, headers } = await made();
    // Only public responses are cached.
    if (actor.visibility !== 'public') throw problem('unknown_actor');
    return { body, etag, headers, tags: [`actor:${actor.id}`, ...actor.sources.split(' ').map((key) => `source:${key}`)] };
  });
}

export function included(include: string | undefined): Include[] {
  return include ? (include.split(',') as Include[]) : [];
}

/** What filters ask for, as tags: and of ors. What does not exist matches nothing. */
export async function filtersOf(context: DirectoryContext, query: Pick<EntityQuery, 'state' | 'place' | 'entity_type' | 'issue_area' | 'has_flags'>): Promise<{ any: string[] }[]> {
  const filters: { any: string[] }[] = [];
  if (query.state) filters.push({ any: [`s:${query.state}`] });
  if (query.entity_type) filters.push({ any: query.entity_type.map((type) => `t:${type}`) });
  if (query.issue_area) filters.push({ any: query.issue_area.map((slug) => `i:${slug}`) });
  if (query.has_flags === true) filters.push({ any: ['f:open'] });
  if (query.place) {
    const places = await Promise.all(query.place.map((key) => context.places.byKey(context.civic.db.read, key)));
    filters.push({ any: places.flatMap((place) => (place ? [`p:${place.key}`] : [])) });
  }
  return filters;
}

/** The shape of positions in a list of actors: the value that it is sorted by and the key. */
export function positionShape({ query, sort }: Pick<EntityQuery, 'query' | 'sort'>): PositionShape {
  if (query !== undefined && sort === 'relevance') return ['scalar', 'integer'];
  return [sort === 'source_count' ? 'integer' : 'text', 'integer'];
}

async function searchEntities(context: DirectoryContext, request: Request) {
  const page = pageOf<EntityQuery>(request, positionShape);
  const { query } = page;
  const workspace = workspaceAsked(request, query.visibility);
  const filters = await filtersOf(context, query);
  const asked: ListRequest = {
    query: query.query ?? null,
    filters,
    ...(query.freshness && { freshness: { statuses: query.freshness, day: dayOf(context.civic.clock.now()) } }),
    workspace,
    facets: query.facets,
    sort: query.sort,
    limit: page.limit,
    after: page.after as Position | null,
  };
  const { texts, found } = await context.civic.db.snapshot(async (tx) => {
    const found = await listActors(tx, asked, context.columns);
    const rows = await actorsByKey(tx, found.keys);
    return { found, texts: await actorTexts(tx, rows, included(query.include), tellingOf(context), workspace) };
  });
  const suggestions = await suggestionsFor(context, query);
  const extra = { ...(found.facets && { facets: found.facets }), ...(found.corrected.length > 0 && { corrected: found.corrected }), ...(suggestions.length > 0 && { suggestions }) };
  const { body, headers } = listText(request, page, { data: texts, total: found.total, next: found.next, extra });
  return { body, headers, etag: textEtag(body), ...(workspace && { cacheControl: 'private, no-store' }) };
}
