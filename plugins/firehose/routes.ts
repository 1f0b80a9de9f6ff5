import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, negotiate, pageOf, problem, type Caller } from 'civic';
import { addressOf, pageParametersOf, parametersOf } from './query/address.ts';
import { filterParameters, lastEventId, pageParameters, queryOf, type QueryParameters } from './query/schemas.ts';
import type { Subscribe } from './query/subscription.ts';
import { answerSnapshot, type AnswerContext } from './snapshot/answer.ts';
import { accessOf } from './stream/access.ts';
import { openEventStream, type StreamContext } from './stream/open.ts';
import { messageSchemas, snapshotSchema } from './stream/schemas.ts';
import { requestedId } from './stream/start.ts';
import type { Query, SignalType } from './types.ts';

export interface RouteContext extends AnswerContext, StreamContext {
  civic: AnswerContext['civic'] & StreamContext['civic'] & { readonly db: import('civic').Database };
  subscribe: Subscribe;
}

const PATH = '/api/firehose';
const TYPES = ['application/json', 'text/event-stream'];

/** Made once all plugins have said what they produce. */
export function firehoseRoutes(context: RouteContext, types: SignalType[], session: Joi.Schema): ServerRoute[] {
  const { anonymous } = context.civic.config;
  return [{
    method: 'GET',
    path: PATH,
    options: {
      description: 'The Firehose: signals as a snapshot, or as a stream of events',
      notes: 'With `Accept: text/event-stream` the answer is a stream of server-sent events that begins with `firehose.ready`; otherwise a page of JSON.',
      auth: anonymous ? { mode: 'try' } : { mode: 'required', access: { scope: ['firehose:read'] } },
      plugins: {
        civic: {
          ...(!anonymous && { plan: 'firehose' }),
          raw: true, conditional: true, produces: TYPES,
          problems: ['not_acceptable', 'invalid_cursor', 'invalid_event_id', 'invalid_preference', 'invalid_header', 'visibility_forbidden', 'too_many_streams', 'wait_too_long', 'streams_full'],
          stream: { protocol: 'sse', send: messageSchemas(types) },
        },
      },
      validate: { query: Joi.object({ ...filterParameters, ...pageParameters, last_event_id: lastEventId }) },
      response: { schema: snapshotSchema(types, session), status: { 204: Joi.any() }, sample: 0 },
    },
    handler: (request, h) => (wantsStream(request) ? answerStream(context, request, h) : answerPage(context, request, h)),
  }];
}

/** HEAD never opens a stream, whatever it accepts. */
function wantsStream(request: Request): boolean {
  refuseBrokenTrace(request);
  return request.method !== 'head' && negotiate(request, TYPES) === 'text/event-stream';
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** Elsewhere a malformed trace begins a new one; whoever watches streams wants to know. */
export function refuseBrokenTrace({ headers }: Request): void {
  const parent = headers['traceparent'] as string | undefined;
  if (parent !== undefined && !TRACE_PARENT.test(parent)) throw problem('invalid_header', { detail: 'Traceparent is not of the form 00-<32 hex digits>-<16 hex digits>-<2 hex digits>.' });
}

/** Who asks; null for a visitor, where those are welcome. */
function callerOf(request: Request): Caller | null {
  return request.auth.isAuthenticated ? request.auth.credentials as unknown as Caller : null;
}

/** Where visitors are welcome, a key still needs what it would need elsewhere. */
function checkKey(caller: Caller | null): void {
  if (caller && !caller.scope.includes('firehose:read')) throw problem('insufficient_scope', { detail: 'This needs the scope firehose:read.' });
  if (caller && !caller.capabilities.includes('firehose')) throw problem('plan_required', { detail: `The plan ${caller.plan} does not include firehose.` });
}

async function answerPage(context: RouteContext, request: Request, h: ResponseToolkit) {
  const caller = callerOf(request);
  checkKey(caller);
  const page = pageOf<Omit<QueryParameters, 'limit' | 'cursor'> & { last_event_id?: string }>(withoutEventId(request));
  const query = queryOf({ ...page.query, limit: page.limit, cursor: request.query['cursor'] as string | undefined });
  const subscription = await context.subscribe(context.civic.db.read, query, caller);
  return answerSnapshot(context, request, h, {
    subscription, page, access: accessOf(caller), session: null,
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
  const caller = callerOf(request);
  checkKey(caller);
  const requested = requestedId(request);
  if (request.query['cursor'] !== undefined) throw problem('invalid_cursor', { detail: 'A stream has no pages: resume it with Last-Event-ID.', errors: [{ parameter: 'cursor', detail: 'has no meaning for a stream' }] });
  const subscription = await context.subscribe(context.civic.db.read, queryOf(request.query as unknown as QueryParameters), caller);
  return openEventStream(context, request, h, { subscription, caller, requested, sessionId: null, snapshot: addressOf(PATH, pageParametersOf(subscription.query)) });
}

