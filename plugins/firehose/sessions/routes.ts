import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf, type Caller } from 'civic';
import type { Firehose } from '../service.ts';
import { readPreferences } from '../snapshot/prefer.ts';
import { wholeQuery } from './cursor.ts';
import type { SessionsPart } from './part.ts';
import { minimalSession, newSession, returnHeaders, session, sessionList, ticket, type NewSession } from './schemas.ts';
import { addressesOf } from './told.ts';

const noQuery = Joi.object({});

/** Who may read the Firehose; sessions always belong to somebody. */
export const reading = { mode: 'required' as const, access: { scope: ['firehose:read'] } };
export const params = Joi.object({ id: Joi.string().max(100).description('The session’s id, as fhs_…') });

export function callerOf(request: Request): Caller {
  return request.auth.credentials as unknown as Caller;
}

export function idIn(request: Request): string {
  return String(request.params['id']);
}

/** Sessions as records: made, listed, shown, deleted, and tickets for them. */
export function sessionRoutes({ civic, kinds, subscribe }: Firehose, { sessions, tickets, toldTo }: SessionsPart): ServerRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/firehose/sessions',
      options: {
        description: 'Create a session: a stored query with its own snapshot, events and socket',
        notes: 'With `Prefer: return=minimal` the response has only its id and URLs.',
        auth: reading,
        validate: { headers: returnHeaders, query: noQuery, payload: newSession(kinds.queryable()) },
        plugins: { civic: { plan: 'firehose', headers: ['Preference-Applied'], problems: ['invalid_cursor', 'invalid_preference', 'wait_too_long', 'visibility_forbidden', 'too_many_sessions'] } },
        response: { status: { 201: Joi.alternatives(session, minimalSession) } },
      },
      async handler(request, h) {
        const { query = {}, delivery = {} } = (request.payload ?? {}) as NewSession;
        const { return: wanted } = readPreferences(request.headers['prefer'] as string | undefined);
        const caller = callerOf(request);
        const made = await sessions.create(caller, await subscribe(civic.db.read, wholeQuery(request.server, query), caller), delivery.mode ?? 'sse');
        const response = h.response(wanted === 'minimal' ? addressesOf(civic, made.id) : (await toldTo(caller, [made]))[0]);
        if (wanted) response.header('preference-applied', `return=${wanted}`);
        return response.code(201).location(civic.url(`/api/firehose/sessions/${made.id}`));
      },
    },
    {
      method: 'GET',
      path: '/api/firehose/sessions',
      options: {
        description: 'The sessions of your workspace, the newest first',
        notes: 'Sessions that were not used for `plugins.firehose.session_days` are deleted. Members of a workspace see the sessions of all members.',
        auth: reading,
        validate: { query: Joi.object({ limit: Joi.number().integer().min(1).max(100).default(25), cursor: Joi.string() }) },
        plugins: { civic: { plan: 'firehose' } },
        response: { schema: sessionList },
      },
      async handler(request, h) {
        const page = pageOf(request, ['integer']);
        const caller = callerOf(request);
        const { sessions: found, total } = await sessions.page(caller, page);
        const shown = found.slice(0, page.limit);
        return listResponse(request, h, page, { data: await toldTo(caller, shown), total, next: found.length > page.limit ? [shown.at(-1)!.key] : null });
      },
    },
    {
      method: 'GET',
      path: '/api/firehose/sessions/{id}',
      options: {
        description: 'One session of your workspace',
        notes: '`expires_at` moves on whenever the session is read or acknowledged. A session of another workspace is 404.',
        auth: reading,
        validate: { query: noQuery, params },
        plugins: { civic: { plan: 'firehose', problems: ['unknown_session'] } },
        response: { schema: session },
      },
      handler: async (request) => (await toldTo(callerOf(request), [await sessions.find(callerOf(request), idIn(request))]))[0],
    },
    {
      method: 'DELETE',
      path: '/api/firehose/sessions/{id}',
      options: {
        description: 'Delete a session; its streams and sockets end',
        notes: 'Open streams close, sockets close with 1008, and tickets of the session are no longer valid.',
        auth: reading,
        validate: { query: noQuery, params },
        plugins: { civic: { plan: 'firehose', problems: ['unknown_session'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await sessions.remove(callerOf(request), idIn(request));
        return h.response().code(204);
      },
    },
    {
      method: 'POST',
      path: '/api/firehose/sessions/{id}/tickets',
      options: {
        description: 'Create a ticket with which a browser reads one session',
        notes: 'Send it as `?ticket=` to the events or the socket of the session within a minute. A socket accepts it once; events accept it for reconnecting for up to 12 hours, as long as your key is valid.',
        auth: reading,
        validate: { query: noQuery, params, payload: Joi.object({}).allow(null) },
        plugins: { civic: { plan: 'firehose', secret: true, problems: ['unknown_session', 'forbidden', 'too_many_requests'] } },
        response: { status: { 201: ticket } },
      },
      async handler(request, h) {
        const caller = callerOf(request);
        const made = await tickets.make(await sessions.find(caller, idIn(request)), caller);
        return h.response(made).code(201).header('cache-control', 'no-store');
      },
    },
  ];
}
