import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, listText, pageOf, textAnswer, textEtag, type Position, type Reader } from 'civic';
import { workspaceAsked } from '../access.ts';
import { sourcesByKey } from '../ledger/store.ts';
import { placeOfPath } from '../places/routes.ts';
import { placeRecord } from '../places/schemas.ts';
import type { PlaceRow } from '../places/service.ts';
import { listActors } from '../search/list.ts';
import { ACTOR_TYPES, FRESHNESS, type ActorType, type Visibility } from '../types.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { coverageText } from './coverage.ts';
import { actorTexts } from './detail.ts';
import { actorsByKey, countListings, countPlaceSources, placeCount, placeListing, placePage, placeSources, positionOf, type PlaceSort } from './read-store.ts';
import { filtersOf, included, positionShape } from './routes.ts';
import { actorSchema, correctedSchema, includeParameter, listOf, paging, sourceSchema, suggestionsSchema } from './schemas.ts';
import { sourceRecords } from './sources.ts';
import { suggestionsFor } from './suggestions.ts';
import { actorText, withMembers } from './wire.ts';

interface PlaceQuery {
  issue_area?: string[];
  entity_type?: ActorType[];
  query?: string;
  sort: 'relevance' | PlaceSort;
  include?: string;
  visibility?: Visibility;
}

const params = Joi.object({ place_key: Joi.string() });
const count = Joi.number().integer().min(0).required();

const coverageSchema = Joi.object({
  place: placeRecord.required(),
  entity_count: count,
  source_count: count,
  by_type: Joi.array().items(Joi.object({ type: Joi.string().required(), count })).required(),
  issue_counts: Joi.array().items(Joi.object({
    issue_area: Joi.string().required(), domain: Joi.string().required(), entity_count: count, source_count: count,
    status: Joi.string().valid('covered', 'thin', 'missing').required().description('Covered by three actors or more, thin with one or two'),
  })).required(),
  covered_issue_areas: Joi.array().items(Joi.string()).required(),
  thin_issue_areas: Joi.array().items(Joi.string()).required(),
  missing_issue_areas: Joi.array().items(Joi.string()).required(),
  uncovered_domains: Joi.array().items(Joi.string()).required(),
  freshness: Joi.object(Object.fromEntries(FRESHNESS.map((status) => [status, count]))).required(),
  watched_sources: Joi.object({ total: count, healthy: count, failing: count, last_success_at: Joi.string().isoDate().allow(null).required() }).required(),
  latest_run: Joi.object({ status: Joi.string().required(), completed_at: Joi.string().isoDate().required() }).allow(null).required(),
  generated_at: Joi.string().isoDate().required(),
}).meta({ name: 'Coverage' });

export function placeReadRoutes(context: DirectoryContext): ServerRoute[] {
  const { ready } = context;
  const cached = { onPostAuth: { method: ready.hit } };
  return [
    {
      method: 'GET',
      path: '/api/places/{place_key}/entities',
      options: {
        description: 'The actors of a place',
        notes: '`place_key` is a key such as kansas-city,missouri, a slug such as kansas-city-mo or a synonym of one; `Content-Location` has the canonical key. A place without actors is an empty list. An unknown issue area matches nothing and is listed in `suggestions`.',
        validate: {
          params,
          query: Joi.object({
            issue_area: Joi.array().items(Joi.string().max(100)).single().max(50).description('Slug; repeatable'),
            entity_type: Joi.array().items(Joi.string().valid(...ACTOR_TYPES)).single().description('Type of actor; repeatable'),
            query: Joi.string().trim().max(300).description('Words of the name, description and affiliations; the last one may be the beginning of a word'),
            sort: Joi.string().valid('relevance', 'name', 'recent', 'source_count').default('relevance').description('Without a query, relevance is the name'),
            include: includeParameter,
            visibility: Joi.string().valid('public', 'workspace').description('`workspace` adds what belongs to your own'),
            ...paging,
          }),
        },
        plugins: { civic: { conditional: true, problems: ['unknown_place', 'invalid_cursor', 'authentication_required', 'insufficient_scope'] } },
        ext: cached,
        response: { schema: listOf(actorSchema, { place: placeRecord.required(), corrected: correctedSchema, suggestions: suggestionsSchema }).meta({ name: 'PlaceActorList' }), sample: 0 },
      },
      handler: (request, h) => placeEntities(context, request, h),
    },
    {
      method: 'GET',
      path: '/api/places/{place_key}/sources',
      options: {
        description: 'The sources of a place, the latest retrieved first',
        notes: 'Every source that a public actor of the place cites.',
        validate: { params, query: Joi.object(paging) },
        plugins: { civic: { conditional: true, problems: ['unknown_place', 'invalid_cursor'] } },
        ext: cached,
        response: { schema: listOf(sourceSchema, { place: placeRecord.required() }).meta({ name: 'PlaceSourceList' }), sample: 0 },
      },
      handler: (request, h) => placeSourceList(context, request, h),
    },
    {
      method: 'GET',
      path: '/api/places/{place_key}/coverage',
      options: {
        description: 'What is known of a place, and what is missing',
        notes: 'Counts by type and issue area. An issue area is covered by three actors or more, thin with one or two, else missing.',
        validate: { params, query: Joi.object({}) },
        plugins: { civic: { conditional: true, problems: ['unknown_place'] } },
        ext: cached,
        response: { schema: coverageSchema, sample: 0 },
      },
      async handler(request, h) {
        const place = await placeOfPath(context.places, context.civic.db, String(request.params.place_key));
        return ready.answer(request, h, `place:${place.key}`, async () => {
          const text = await coverageText(context.civic.db.read, context.places.recordOf(place), place.key, context.taxonomy(), context.civic.clock.now());
          return { body: withMembers(text, { generated_at: JSON.stringify(context.civic.clock.iso()) }), etag: textEtag(text), headers: locationOf(context, place, 'coverage'), tags: ['taxonomy'] };
        });
      },
    },
  ];
}

/** The canonical address, whichever name of the place was used. */
function locationOf({ civic }: DirectoryContext, place: PlaceRow, part: string, search = ''): Record<string, string> {
  return { 'content-location': civic.url(`/api/places/${place.place_key}/${part}${search}`) };
}

async function placeEntities(context: DirectoryContext, request: Request, h: ResponseToolkit) {
  const page = pageOf<PlaceQuery>(request, positionShape);
  const workspace = workspaceAsked(request, page.query.visibility);
  const place = await placeOfPath(context.places, context.civic.db, String(request.params.place_key));
  const make = async () => {
    const list = isPlain(page.query, workspace) ? await plainList(context, place, page) : await context.civic.db.snapshot(async (tx) => {
      const found = page.query.query ? await searchedIn(context, tx, place, page, workspace) : await listedIn(context, tx, place, page, workspace);
      const rows = await actorsByKey(tx, found.keys);
      return { ...found, data: await actorTexts(tx, rows, included(page.query.include), tellingOf(context), workspace) };
    });
    const suggestions = await suggestionsFor(context, { issue_area: page.query.issue_area });
    const extra = { place: context.places.recordOf(place), ...(list.corrected && list.corrected.length > 0 && { corrected: list.corrected }), ...(suggestions.length > 0 && { suggestions }) };
    const { body, headers } = listText(request, page, { ...list, extra });
    return { body, etag: textEtag(body), headers: { ...headers, ...locationOf(context, place, 'entities', request.url.search) }, tags: ['taxonomy'] };
  };
  if (workspace) return textAnswer(request, h, { ...await make(), cacheControl: 'private, no-store' });
  if (page.query.query || page.query.include) return textAnswer(request, h, await make());
  return context.ready.answer(request, h, `place:${place.key}`, make);
}

interface Found {
  keys: number[];
  total: number;
  next: Position | null;
  corrected?: { from: string; to: string }[];
}

type Asked = ReturnType<typeof pageOf<PlaceQuery>>;

async function searchedIn(context: DirectoryContext, reader: Reader, place: PlaceRow, { query, limit, after }: Asked, workspace: string | null): Promise<Found> {
  const filters = [{ any: [`p:${place.key}`] }, ...await filtersOf(context, query)];
  return listActors(reader, { query: query.query!, filters, workspace, sort: query.sort, limit, after }, context.columns);
}

async function listedIn(context: DirectoryContext, reader: Reader, place: PlaceRow, { query, limit, after }: Asked, workspace: string | null): Promise<Found> {
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

/** Whether a counter of this total is kept. */
function isKept({ issue_area = [], entity_type = [] }: PlaceQuery, workspace: string | null): boolean {
  return !workspace && issue_area.length <= 1 && entity_type.length <= 1;
}

async function totalIn(reader: Reader, place: number, query: PlaceQuery, filters: string[][], workspace: string | null): Promise<number> {
  if (!isKept(query, workspace)) return countListings(reader, { place, filters, workspaceId: workspace });
  return placeCount(reader, place, query.issue_area?.[0] ?? '', query.entity_type?.[0] ?? '');
}

/** What nearly everybody asks for: one statement answers it, which needs no snapshot. */
function isPlain(query: PlaceQuery, workspace: string | null): boolean {
  return !query.query && !query.include && isKept(query, workspace);
}

async function plainList(context: DirectoryContext, place: PlaceRow, { query, limit, after }: Asked) {
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

async function placeSourceList(context: DirectoryContext, request: Request, h: ResponseToolkit) {
  const page = pageOf(request, ['text', 'integer']);
  const place = await placeOfPath(context.places, context.civic.db, String(request.params.place_key));
  return context.ready.answer(request, h, `place:${place.key}`, async () => {
    const { records, keys, total, next } = await context.civic.db.snapshot(async (tx) => {
      const rows = await placeSources(tx, place.key, page.after as (string | number)[] | null, page.limit);
      const shown = rows.slice(0, page.limit);
      const byKey = new Map((await sourcesByKey(tx, shown.map(({ source_key }) => source_key))).map((row) => [row.key, row]));
      const last = shown.at(-1);
      return {
        keys: shown.map(({ source_key }) => source_key),
        records: await sourceRecords(tx, shown.map(({ source_key }) => byKey.get(source_key)!), context.civic.clock.now()),
        total: await countPlaceSources(tx, place.key),
        next: rows.length > page.limit ? [last!.retrieved_at, last!.source_key] : null,
      };
    });
    const { body, headers } = listText(request, page, { data: records.map((record) => JSON.stringify(record)), total, next, extra: { place: context.places.recordOf(place) } });
    return { body, etag: textEtag(body), headers: { ...headers, ...locationOf(context, place, 'sources', request.url.search) }, tags: keys.map((key) => `source:${key}`) };
  });
}
