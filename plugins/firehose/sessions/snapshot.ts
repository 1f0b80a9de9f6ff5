import type { ServerRoute } from '@hapi/hapi';
import { Joi, pageOf } from 'civic';
import { addressOf } from '../query/address.ts';
import { LONGEST_CURSOR, MOST_SIGNALS } from '../query/schemas.ts';
import { refuseBrokenTrace } from '../routes.ts';
import type { Firehose } from '../service.ts';
import { answerSnapshot } from '../snapshot/answer.ts';
import { SNAPSHOT_POSITION } from '../snapshot/snapshot.ts';
import { accessOf } from '../stream/access.ts';
import { snapshotSchema, waitHeaders } from '../stream/schemas.ts';
import { firstPage } from './cursor.ts';
import type { SessionsPart } from './part.ts';
import { callerOf, idIn, params, reading } from './routes.ts';
import { session as sessionSchema } from './schemas.ts';

const FIREHOSE = '/api/firehose';

const query = Joi.object({
  cursor: Joi.string().max(LONGEST_CURSOR).description('Where the last page ended.'),
  limit: Joi.number().integer().min(1).max(MOST_SIGNALS).description('How many signals a page has; by default the limit of the session.'),
});

/** What the session's query finds now: the answer of GET /api/firehose, with the session in it. */
export function snapshotRoute(firehose: Firehose, { sessions, toldTo }: SessionsPart): ServerRoute {
  const { civic, kinds, subscribe } = firehose;
  return {
    method: 'GET',
    path: '/api/firehose/sessions/{id}/snapshot',
    options: {
      description: 'A session as a snapshot',
      notes: 'The response of `GET /api/firehose` for the query of the session, with the session in `session`. Reading it does not move the session’s position.',
      auth: reading,
      validate: { headers: waitHeaders, query, params },
      plugins: { civic: { plan: 'firehose', raw: true, conditional: true, headers: ['Last-Modified', 'Preference-Applied'], problems: ['unknown_session', 'invalid_cursor', 'invalid_preference', 'visibility_forbidden', 'wait_too_long'] } },
      response: { schema: snapshotSchema(kinds, sessionSchema), sample: 0 },
    },
    async handler(request, h) {
      refuseBrokenTrace(request);
      const caller = callerOf(request);
      const session = await sessions.find(caller, idIn(request));
      const asked = request.query as { cursor?: string; limit?: number };
      const path = `${FIREHOSE}/sessions/${session.id}`;
      const limit = asked.limit ?? session.query.limit;
      const page = asked.cursor === undefined ? firstPage(session.query) : pageOf(request, SNAPSHOT_POSITION);
      const subscription = await subscribe(civic.db.read, { ...session.query, limit, cursor: asked.cursor ?? session.query.cursor }, caller);
      const [told] = await toldTo(caller, [session]);
      sessions.note(session);
      return answerSnapshot(firehose, request, h, {
        subscription, page: { ...page, query: {}, limit }, access: accessOf(caller, request), session: told!,
        self: at(`${path}/snapshot`, { ...asked }),
        nextPage: (cursor) => at(`${path}/snapshot`, { ...asked, cursor }),
        events: (lastEventId) => at(`${path}/events`, { last_event_id: lastEventId }),
      });
    },
  };
}

function at(path: string, parameters: Record<string, string | number>): string {
  return addressOf(path, new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])));
}
