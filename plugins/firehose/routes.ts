import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, negotiate, pageOf, problem, type Caller } from 'civic';
import { addressOf, pageParametersOf, parametersOf } from './query/address.ts';
import { filterParameters, lastEventId, pageParameters, queryOf, type QueryParameters } from './query/schemas.ts';
import type { Subscribe } from './query/subscription.ts';
import { answerSnapshot, type AnswerContext } from './snapshot/answer.ts';
import { SNAPSHOT_POSITION } from './snapshot/snapshot.ts';
import { accessOf } from './stream/access.ts';
import { openEventStream, type StreamContext } from './stream/open.ts';
import { firehoseHeaders, messageSchemas, snapshotSchema } from './stream/schemas.ts';
import { requestedId } from './stream/start.ts';
import type { SignalKinds } from './signals/kinds.ts';
import type { Query, Visibility } from './types.ts';

export interface RouteContext extends AnswerContext, StreamContext {
  civic: AnswerContext['civic'] & StreamContext['civic'] & { readonly db: import('civic').Database };
  subscribe: Subscribe;
  kinds: SignalKinds;
}

export const PATH = '/api/firehose';
const TYPES = ['application/json', 'text/event-stream'];

/** Created once all plugins have declared their signal types. */
export function firehoseRoutes(context: RouteContext, session: Joi.Schema): ServerRoute[] {
  const { kinds } = context;
  const { anonymous } = context.civic.config;
  return [{
    method: 'GET',
    path: PATH,
    options: {
      description: 'The Firehose: signals as a snapshot, or as a stream of events',
      notes: 'With `Accept: text/event-stream` the response is a stream of server-sent events that begins with `firehose.ready`; otherwise a page of JSON. `HEAD` returns the headers of that page, such as its ETag and rate limits.',
      auth: anonymous ? { mode: 'try' } : { mode: 'required', access: { scope: ['firehose:read'] } },
      plugins: {
        civic: {
          ...(!anonymous && { plan: 'firehose' }),
          head: 'How fresh the snapshot is, and what is left of the rate limit',
          raw: true, conditional: true, produces: TYPES, headers: ['Last-Modified', 'Preference-Applied'],
          problems: ['authentication_required', 'insufficient_scope', 'plan_required', 'not_acceptable', 'unsupported_media_type', 'invalid_cursor', 'invalid_event_id', 'invalid_preference', 'invalid_header', 'visibility_forbidden', 'too_many_streams', 'wait_too_long', 'streams_full'],
          stream: { protocol: 'sse', send: messageSchemas(kinds) },
        },
      },
      validate: { headers: firehoseHeaders, query: Joi.object({ ...filterParameters(kinds.queryable()), ...pageParameters, last_event_id: lastEventId }) },
      response: { schema: snapshotSchema(kinds, session), status: { 204: Joi.any() }, sample: 0 },
    },
    handler: (request, h) => (wantsStream(request) ? answerStream(context, request, h) : answerPage(context, request, h)),
  }];
}

/** HEAD never opens a stream, whatever it accepts. */
function wantsStream(request: Request): boolean {
  refuseBrokenTrace(request);
  refuseForeignBody(request);
  return request.method !== 'head' && negotiate(request, TYPES) === 'text/event-stream';
}

/** Elsewhere a malformed trace begins a new one; whoever watches streams wants to know. */
export function refuseBrokenTrace({ civic }: Request): void {
  if (civic.trace.verdict === 'malformed') throw problem('invalid_header', { detail: 'Traceparent is not of the form 00-<32 hex digits>-<16 hex digits>-<2 hex digits>.' });
}

/** hapi looks at no body of a GET. */
function refuseForeignBody({ headers }: Request): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const type = String(headers['content-type'] ?? '');
  if (hasBody && !/^application\/json\s*(?:;|$)/i.test(type)) {
    throw problem('unsupported_media_type', { detail: 'A body is not read here, and one of another type than application/json is refused.', headers: { 'accept-post': 'application/json' } });
  }
}

function callerOf(request: Request, visibility: Visibility): Caller | null {
  return readingCaller(request.auth.isAuthenticated ? request.auth.credentials as unknown as Caller : null, visibility);
}

/** Returns the caller; null for an anonymous caller, where the operator allows anonymous access. A key without Firehose then has anonymous access too. */
export function readingCaller(caller: Caller | null, visibility: Visibility): Caller | null {
  if (!caller) return null;
  const hasScope = caller.scope.includes('firehose:read');
  const hasPlan = caller.capabilities.includes('firehose');
  if (hasScope && hasPlan) return caller;
  if (visibility === 'public') return null;
  throw hasScope ? problem('plan_required', { detail: `The plan ${caller.plan} does not include firehose.` }) : problem('insufficient_scope', { detail: 'This needs the scope firehose:read.', extra: { scopes: ['firehose:read'] } });
}

async function answerPage(context: RouteContext, request: Request, h: ResponseToolkit) {
  const page = pageOf<Omit<QueryParameters, 'limit' | 'cursor'> & { last_event_id?: string }>(withoutEventId(request), SNAPSHOT_POSITION);
  const query = queryOf({ ...page.query, limit: page.limit, cursor: request.query['cursor'] as string | undefined });
  const caller = callerOf(request, query.visibility);
  const subscription = await context.subscribe(context.civic.db.read, query, caller);
  return answerSnapshot(context, request, h, {
    subscription, page, access: accessOf(caller, request), session: null,
    self: addressOf(PATH, pageParametersOf(subscription.query)),
    nextPage: (cursor) => addressOf(PATH, pageParametersOf({ ...subscription.query, cursor })),
    events: (lastId) => eventsAddress(subscription.query, lastId),
  });
}

/** It is of streams, and no part of what a cursor carries. */
function withoutEventId(request: Request): Request {
  delete (request.query as Partial<Record<string, unknown>>)['last_event_id'];
  return request;
}

function eventsAddress(query: Query, lastId: string): string {
  const parameters = parametersOf(query);
  parameters.set('last_event_id', lastId);
  return addressOf(PATH, parameters);
}

async function answerStream(context: RouteContext, request: Request, h: ResponseToolkit) {
  const query = queryOf(request.query as unknown as QueryParameters);
  const caller = callerOf(request, query.visibility);
  const requested = requestedId(request);
  if (request.query['cursor'] !== undefined) throw problem('invalid_cursor', { detail: 'A stream has no pages: resume it with Last-Event-ID.', errors: [{ parameter: 'cursor', detail: 'has no meaning for a stream' }] });
  const subscription = await context.subscribe(context.civic.db.read, query, caller);
  return openEventStream(context, request, h, { subscription, access: accessOf(caller, request), requested, sessionId: null, snapshot: addressOf(PATH, pageParametersOf(subscription.query)) });
}

