import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, listText, pageOf, textAnswer, textEtag } from 'civic';
import { authenticatedCaller, workspaceAsked } from '../access.ts';
import { placeOfPath } from '../places/routes.ts';
import { placeRecord } from '../places/schemas.ts';
import type { PlaceRow } from '../places/service.ts';
import { ACTOR_TYPES, FRESHNESS } from '../types.ts';
import type { DirectoryContext } from './context.ts';
import { placeCoverage, placeEntities, placeSourceList, type PlaceQuery } from './place-reads.ts';
import { positionShape } from './reads.ts';
import { actorSchema, correctedSchema, includeParameter, listOf, paging, sourceSchema, suggestionsSchema } from './schemas.ts';

/** What both the route and the tool take. */
export const placeFilters = {
  issue_area: Joi.array().items(Joi.string().max(100)).single().max(50).description('Slug; repeatable'),
  entity_type: Joi.array().items(Joi.string().valid(...ACTOR_TYPES)).single().description('Type of actor; repeatable'),
  query: Joi.string().trim().max(300).description('Words of the name, description and affiliations; the last one may be the beginning of a word'),
  sort: Joi.string().valid('relevance', 'name', 'recent', 'source_count').default('relevance').description('Without a query, relevance is the name'),
  visibility: Joi.string().valid('public', 'workspace').description('`workspace` adds what belongs to your own'),
  ...paging,
};

/** Of the sources of a place: the time of retrieval and the key. */
export const PLACE_SOURCE_POSITION = ['text', 'integer'] as const;

export const placeActorList = listOf(actorSchema, { place: placeRecord.required(), corrected: correctedSchema, suggestions: suggestionsSchema }).meta({ name: 'PlaceActorList' });
export const placeSourceListSchema = listOf(sourceSchema, { place: placeRecord.required() }).meta({ name: 'PlaceSourceList' });

/** How long a response may show the former health of watched sources, which changes with every read of one, and the former run. */
const WATCHED_MS = 60_000;
const params = Joi.object({ place_key: Joi.string() });
const count = Joi.number().integer().min(0).required();

export const coverageSchema = Joi.object({
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
  latest_run: Joi.object({ status: Joi.string().required(), completed_at: Joi.string().isoDate().allow(null).required() }).allow(null).required(),
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
          query: Joi.object({ ...placeFilters, include: includeParameter }),
        },
        plugins: { civic: { conditional: true, problems: ['unknown_place', 'invalid_cursor', 'authentication_required', 'insufficient_scope'] } },
        ext: cached,
        response: { schema: placeActorList, sample: 0 },
      },
      handler: (request, h) => answerEntities(context, request, h),
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
        response: { schema: placeSourceListSchema, sample: 0 },
      },
      handler: (request, h) => answerSources(context, request, h),
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
          const { body, timeless } = await placeCoverage(context, place);
          return { body, etag: textEtag(timeless), headers: locationOf(context, place, 'coverage'), tags: ['taxonomy'], ...((context.watched.isFilled() || context.runs.isFilled()) && { validUntil: context.civic.clock.now() + WATCHED_MS }) };
        });
      },
    },
  ];
}

/** The canonical address, whichever name of the place was used. */
function locationOf({ civic }: DirectoryContext, place: PlaceRow, part: string, search = ''): Record<string, string> {
  return { 'content-location': civic.url(`/api/places/${place.place_key}/${part}${search}`) };
}

async function answerEntities(context: DirectoryContext, request: Request, h: ResponseToolkit) {
  const page = pageOf<PlaceQuery>(request, positionShape);
  const caller = authenticatedCaller(request);
  const isPrivate = workspaceAsked(caller, page.query.visibility) !== null;
  const place = await placeOfPath(context.places, context.civic.db, String(request.params.place_key));
  const make = async () => {
    const { body, headers } = listText(request, page, await placeEntities(context, place, page, caller));
    return { body, etag: textEtag(body), headers: { ...headers, ...locationOf(context, place, 'entities', request.url.search) }, tags: ['taxonomy'] };
  };
  if (isPrivate) return textAnswer(request, h, { ...await make(), cacheControl: 'private, no-store' });
  if (page.query.query || page.query.include) return textAnswer(request, h, await make());
  return context.ready.answer(request, h, `place:${place.key}`, make);
}

async function answerSources(context: DirectoryContext, request: Request, h: ResponseToolkit) {
  const page = pageOf(request, PLACE_SOURCE_POSITION);
  const place = await placeOfPath(context.places, context.civic.db, String(request.params.place_key));
  return context.ready.answer(request, h, `place:${place.key}`, async () => {
    const list = await placeSourceList(context, place, page);
    const { body, headers } = listText(request, page, list);
    return { body, etag: textEtag(body), headers: { ...headers, ...locationOf(context, place, 'sources', request.url.search) }, tags: list.keys.map((key) => `source:${key}`) };
  });
}
