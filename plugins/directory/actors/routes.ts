import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, listText, pageOf, problem, textAnswer, textEtag, type Reader } from 'civic';
import { authenticatedCaller, callerOf, maySee } from '../access.ts';
import { ACTOR_TYPES, FRESHNESS } from '../types.ts';
import type { DirectoryContext } from './context.ts';
import { actorDetail, positionShape, searchEntities, shownActor, type EntityQuery } from './reads.ts';
import { actorsBySlug, type ShownActor } from './read-store.ts';
import { actorDetailSchema, actorSchema, correctedSchema, facetsSchema, includeParameter, listOf, paging, suggestionsSchema } from './schemas.ts';

const several = (item: Joi.Schema) => Joi.array().items(item).single().max(50);

/** What a search is narrowed by. */
export const searchFilters = {
  query: Joi.string().trim().max(300).description('Words of the name, description, places and affiliations; the last one may be the beginning of a word'),
  state: Joi.string().trim().max(50).lowercase().description('Abbreviation, such as MO'),
  place: several(Joi.string().max(200)).description('Place key or slug; repeatable'),
  entity_type: several(Joi.string().valid(...ACTOR_TYPES)).description('Type of actor; repeatable'),
  issue_area: several(Joi.string().max(100)).description('Slug; repeatable'),
  freshness: several(Joi.string().valid(...FRESHNESS)).description('How recently its sources were seen; repeatable'),
  sort: Joi.string().valid('relevance', 'name', 'recent', 'source_count').description('Without a query, relevance is the name'),
};

/** What both the route and the tool take. */
export const entityFilters = {
  ...searchFilters,
  sort: searchFilters.sort.default('relevance'),
  has_flags: Joi.boolean().description('Only actors with open flags, or only those without'),
  visibility: Joi.string().valid('public', 'workspace').description('`workspace` adds what belongs to your own'),
  facets: Joi.boolean().default(false).description('Adds counts by type, issue area and state'),
  ...paging,
};

export const actorList = listOf(actorSchema, { facets: facetsSchema, corrected: correctedSchema, suggestions: suggestionsSchema }).meta({ name: 'ActorList' });

export function entityRoutes(context: DirectoryContext): ServerRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/entities',
      options: {
        description: 'Search for actors',
        notes: 'An actor must match all filters, and one of the values of each. An unknown place or issue area matches nothing and is listed in `suggestions`. Words with a typing error are corrected when nothing else is found, and named in `corrected`. The response is the same for all callers; only `visibility=workspace` depends on the caller.',
        validate: { query: Joi.object({ ...entityFilters, include: includeParameter }) },
        plugins: { civic: { conditional: true, problems: ['invalid_cursor', 'authentication_required', 'insufficient_scope'] } },
        response: { schema: actorList, sample: 0 },
      },
      handler: (request, h) => answerSearch(context, request).then((made) => textAnswer(request, h, made)),
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
      handler: (request, h) => answerDetail(context, request, h, (reader) => shownActor(reader, callerOf(request), String(request.params.id), context.civic.url)),
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

async function answerDetail(context: DirectoryContext, request: Request, h: Parameters<typeof textAnswer>[1], find: (reader: Reader) => Promise<ShownActor>) {
  const made = async () => {
    const { actor, body } = await actorDetail(context, find);
    return { actor, body, etag: textEtag(body), headers: { 'content-location': context.civic.url(`/api/entities/${actor.id}`) } };
  };
  if (callerOf(request) && (await find(context.civic.db.read)).visibility !== 'public') {
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

async function answerSearch(context: DirectoryContext, request: Request) {
  const page = pageOf<EntityQuery>(request, positionShape);
  const list = await searchEntities(context, page, authenticatedCaller(request));
  const { body, headers } = listText(request, page, list);
  return { body, headers, etag: textEtag(body), ...(list.isPrivate && { cacheControl: 'private, no-store' }) };
}
