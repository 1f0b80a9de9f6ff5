import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { addressGroup, clientAddressOf, escapeMarkup, isId, type Reader } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { actorById } from '../actors/read-store.ts';
import type { PageLinks } from '../links.ts';
import { listActors } from '../search/list.ts';
import type { ActorDetail } from '../types.ts';
import { actorsWhole } from './actors.ts';
import { extend, reconcile } from './batch.ts';
import { manifestOf } from './manifest.ts';
import { fragment, page, PREVIEW_POLICY } from './page.ts';
import { describe, isActorType, PROPERTY_LIST, propertiesOfType, TYPES, type Named } from './properties.ts';
import { BadRequest, cleaned, readBatch, readExtension, readSingle } from './query.ts';
import { createQueue, Ended, type Pause } from './queue.ts';

export interface ReconcileRoutes {
  context: DirectoryContext;
  instance: { name: string; version: string };
  links: PageLinks;
}

type Parameters = Record<string, string | undefined>;
type Answerer = (parameters: Parameters, request: Request) => Promise<object> | object;

/** The Reconciliation Service API: a spreadsheet of names, matched in OpenRefine. Its errors are its own, not problems. */
export function reconcileRoutes({ context, instance, links }: ReconcileRoutes): ServerRoute[] {
  const { civic } = context;
  const read = <Answer>(work: (reader: Reader) => Promise<Answer>): Promise<Answer> => civic.db.snapshot(work);

  const queue = createQueue();
  const service: Answerer = ({ queries, query, extend: extension }, request) => {
    const queued = (work: (pause: Pause) => Promise<object>) => queue.run(addressGroup(clientAddressOf(request)), () => request.active(), work);
    if (queries !== undefined) {
      const batch = readBatch(queries);
      return queued((pause) => reconcile(context, batch, pause));
    }
    if (extension !== undefined) {
      const wanted = readExtension(extension);
      return queued((pause) => extend(context, wanted, pause));
    }
    if (query !== undefined) {
      const single = new Map([['query', readSingle(query)]]);
      return queued(async (pause) => (await reconcile(context, single, pause)).query!);
    }
    return manifestOf({ ...instance, url: civic.url, links });
  };
  const get = (path: string, description: string, answerer: Answerer): ServerRoute => ({
    method: 'GET',
    path,
    options: { description, plugins: { civic: { internal: true } } },
    handler: (request, h) => answer(request, h, answerer, request.query),
  });

  return [
    get('/reconcile', 'The manifest of the reconciliation service, or answers to queries', service),
    {
      method: 'POST',
      path: '/reconcile',
      options: {
        description: 'Answers a batch of queries, as forms send it',
        plugins: { civic: { internal: true, rate: 'read' } },
        payload: { allow: ['application/x-www-form-urlencoded', 'application/json'], failAction: refuseBody },
      },
      handler: (request, h) => answer(request, h, service, { ...request.query as object, ...request.payload as object }),
    },
    get('/reconcile/suggest/entity', 'Actors whose name begins like this', ({ prefix = '', type, cursor, limit }) => read((reader) => suggestEntities(reader, context, prefix, type, countOf(cursor, 0, 1000), countOf(limit, 10, 25)))),
    get('/reconcile/suggest/type', 'Types of actors', ({ prefix = '' }) => ({ result: startingWith(TYPES, prefix).map(({ id, name, description }) => ({ id, name, description })) })),
    get('/reconcile/suggest/property', 'Columns that can be sent along', ({ prefix = '' }) => ({ result: startingWith(PROPERTY_LIST.filter(({ isEvidence }) => isEvidence), prefix).map(({ id, name, description }) => ({ id, name, description })) })),
    get('/reconcile/properties', 'Columns that can be fetched', ({ type, limit }) => proposed(type, countOf(limit, 100, 100))),
    get('/reconcile/flyout/entity', 'An actor in a few lines', ({ id }) => read(async (reader) => ({ id, html: await actorOrRefuse(reader, context, id).then((actor) => fragment(actor, links.actor(actor.id))) }))),
    get('/reconcile/flyout/type', 'A type in a few lines', ({ id }) => flyout(TYPES, id)),
    get('/reconcile/flyout/property', 'A property in a few lines', ({ id }) => flyout(PROPERTY_LIST, id)),
    {
      method: 'GET',
      path: '/reconcile/preview',
      options: { description: 'An actor as a small page', plugins: { civic: { internal: true } } },
      handler: async (request, h) => {
        const { id } = parametersOf(request.query as Record<string, unknown>);
        const actor = await read((reader) => actorOf(reader, context, id));
        const body = actor ? page(actor.name, fragment(actor, links.actor(actor.id))) : page('Not found', '<p>There is no such actor.</p>');
        return h.response(body).type('text/html').code(actor ? 200 : 404).header('content-security-policy', PREVIEW_POLICY);
      },
    },
  ];
}

/** When a client that found the queue full may try again. */
const RETRY_SECONDS = 5;

/** The name of a function, or a path to one. */
const CALLBACK = /^(?=.{1,100}$)[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*){0,3}$/;

/** JSON, or a script for clients on other sites that use JSONP. All of it is public; the pages of the instance run no such script. */
async function answer(request: Request, h: ResponseToolkit, answerer: Answerer, given: Record<string, unknown>): Promise<ResponseObject> {
  try {
    const parameters = parametersOf(given);
    const { callback } = parameters;
    if (callback !== undefined && !CALLBACK.test(callback)) throw new BadRequest('"callback" must be the name of a function');
    if (callback !== undefined && request.headers['sec-fetch-site'] === 'same-origin') throw new BadRequest('"callback" is for pages of other sites: leave it out to get JSON');
    const body = await answerer(parameters, request);
    if (callback === undefined || request.method !== 'get') return open(h.response(body).type('application/json'));
    const json = JSON.stringify(body).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
    return open(h.response(`/**/${callback}(${json});`).type('text/javascript'));
  } catch (error) {
    if (error instanceof Ended) return refusal(h, error.message, error.status).header('retry-after', String(RETRY_SECONDS));
    if (!(error instanceof BadRequest)) throw error;
    return refusal(h, error.message, error instanceof Missing ? 404 : 400);
  }
}

class Missing extends BadRequest {}

function refusal(h: ResponseToolkit, message: string, status: number): ResponseObject {
  return open(h.response({ status: 'error', message }).type('application/json').code(status));
}

/** Clients run in browsers, on other origins. */
function open(response: ResponseObject): ResponseObject {
  return response.header('access-control-allow-origin', '*').header('cross-origin-resource-policy', 'cross-origin');
}

const refuseBody: Lifecycle.Method = (_request, h, error) => {
  const { output } = error as unknown as { output: { statusCode: number } };
  const message = output.statusCode === 413 ? 'The body is too large: send fewer queries at once' : 'The body must be a form (application/x-www-form-urlencoded) with the field "queries"';
  return refusal(h, message, output.statusCode).takeover();
};

const PARAMETERS = ['queries', 'query', 'extend', 'callback', 'prefix', 'type', 'cursor', 'limit', 'id'];

/** Of a parameter that is given twice, the last one counts. */
function parametersOf(given: Record<string, unknown>): Parameters {
  return Object.fromEntries(PARAMETERS.filter((name) => Object.hasOwn(given, name)).map((name) => {
    const value = given[name];
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    return [name, typeof last === 'string' ? last : JSON.stringify(last)];
  }));
}

function countOf(text: string | undefined, usual: number, most: number): number {
  const count = Number(text ?? usual);
  return Number.isInteger(count) && count >= 0 ? Math.min(count, most) : usual;
}

async function actorOf(reader: Reader, context: DirectoryContext, id: string | undefined): Promise<ActorDetail | null> {
  const row = isId(id) ? await actorById(reader, id.toLowerCase()) : undefined;
  if (!row || row.visibility !== 'public') return null;
  return (await actorsWhole(reader, context, [row.key]))[0]!;
}

async function actorOrRefuse(reader: Reader, context: DirectoryContext, id: string | undefined): Promise<ActorDetail> {
  const actor = await actorOf(reader, context, id);
  if (!actor) throw new Missing('There is no such actor');
  return actor;
}

async function suggestEntities(reader: Reader, context: DirectoryContext, prefix: string, type: string | undefined, skip: number, limit: number): Promise<object> {
  const filters = type !== undefined && isActorType(type) ? [{ any: [`t:${type}`] }] : [];
  const text = cleaned(prefix);
  if (text === '') return { result: [] };
  const found = await listActors(reader, { query: text, filters, workspace: null, sort: 'relevance', limit: skip + limit, after: null }, context.columns);
  const actors = await actorsWhole(reader, context, found.keys.slice(skip), ['claims']);
  return { result: actors.map((actor) => ({ id: actor.id, name: actor.name, description: describe(actor), notable: TYPES.filter(({ id }) => id === actor.type).map(({ id, name }) => ({ id, name })) })) };
}

function startingWith<Item extends Named>(list: readonly Item[], prefix: string): Item[] {
  const wanted = prefix.trim().toLowerCase();
  return list.filter(({ id, name }) => id.startsWith(wanted) || name.toLowerCase().split(/\s+/).some((word) => word.startsWith(wanted)));
}

function proposed(type: string | undefined, limit: number): object {
  return { ...(type !== undefined && { type }), limit, properties: propertiesOfType(type).slice(0, limit).map(({ id, name }) => ({ id, name })) };
}

function flyout(list: readonly (Named & { description: string })[], id: string | undefined): object {
  const found = list.find((one) => one.id === id);
  if (!found) throw new Missing('There is no such id');
  return { id: found.id, html: `<p><b>${escapeMarkup(found.name)}</b></p><p>${escapeMarkup(found.description)}</p>` };
}
