import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { addHeaders, Joi, problem, upgradeOnly, type UpgradeHandler } from 'civic';
import type { Socket } from 'node:net';
import type { Log } from '../log/log.ts';
import { lastEventId } from '../query/schemas.ts';
import { asStream } from '../query/subscription.ts';
import { refuseBrokenTrace } from '../routes.ts';
import type { Firehose } from '../service.ts';
import { accessOf } from '../stream/access.ts';
import type { Member } from '../stream/member.ts';
import { joinStream, loadMeter, openEventStream, type StreamAsked } from '../stream/open.ts';
import { messageSchemas, streamHeaders } from '../stream/schemas.ts';
import { readEventId, requestedId, startAt, type Requested, type Start } from '../stream/start.ts';
import { checkHandshake, isForeign, SUBPROTOCOL } from './handshake.ts';
import type { SessionsPart } from './part.ts';
import { callerOf, idIn, params, reading } from './routes.ts';
import { ack, ping, pong } from './schemas.ts';
import type { Session } from './store.ts';
import { EVENTS_PATH, SOCKET_PATH } from './tickets.ts';

const query = Joi.object({
  last_event_id: lastEventId,
  ticket: Joi.string().max(100).description('Instead of an API key, for browsers.'),
});

const PROBLEMS = ['unknown_session', 'invalid_event_id', 'visibility_forbidden', 'method_not_allowed', 'too_many_streams', 'streams_full'];
/** A page of any site may read what it has a ticket for. */
const READABLE = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'X-Request-ID' };

/** Sessions as they are read: a stream of events, or a socket. */
export function sessionStreams(firehose: Firehose, part: SessionsPart): ServerRoute[] {
  const send = messageSchemas(firehose.kinds);
  return [
    {
      method: 'GET',
      path: EVENTS_PATH,
      options: {
        description: 'A session as a stream of events',
        notes: 'Continues after the id that is presented, else after the session’s position.',
        auth: reading,
        validate: { headers: streamHeaders, query, params },
        plugins: { civic: { plan: 'firehose', raw: true, rate: 'stream', headers: ['Cache-Control', 'Content-Location', 'Vary'], problems: PROBLEMS, stream: { protocol: 'sse', send } } },
        response: { status: { 200: true, 204: Joi.any() } as never, sample: 0 },
      },
      handler: (request, h) => answerEvents(firehose, part, request, h),
    },
    {
      method: 'GET',
      path: SOCKET_PATH,
      options: {
        description: 'A session as a WebSocket',
        notes: `Ask for the subprotocol ${SUBPROTOCOL}.`,
        auth: reading,
        validate: { headers: streamHeaders, query, params },
        plugins: { civic: { plan: 'firehose', rate: 'stream', problems: [...PROBLEMS, 'subprotocol_required', 'foreign_origin'], stream: { protocol: 'websocket', send: { ...send, pong }, receive: { ack, ping }, subprotocol: SUBPROTOCOL } } },
      },
      handler: (request, h) => answerSocket(firehose, part, request, h),
    },
  ];
}

async function answerEvents(firehose: Firehose, part: SessionsPart, request: Request, h: ResponseToolkit) {
  refuseHead(request);
  if (part.tickets.isBrought(request)) addHeaders(request, READABLE);
  const { session, presented, asked } = await consumerOf(firehose, part, request);
  await part.tickets.take(request);
  const answer = await openEventStream(firehose, request, h, asked);
  noteStart(firehose, part, session, presented);
  return answer;
}

async function answerSocket(firehose: Firehose, part: SessionsPart, request: Request, h: ResponseToolkit) {
  refuseHead(request);
  const answer = upgradeOnly(request, h);
  checkHandshake(request);
  if (!part.tickets.isBrought(request) && isForeign(request, firehose.civic.instance.public_url)) throw problem('foreign_origin');
  const consumer = await consumerOf(firehose, part, request);
  const release = untilGone(request.raw.req.socket, await firehose.counts.admit(consumer.asked.access));
  try {
    accepted.set(request, { ...await readyToOpen(firehose, part, request, consumer), release });
  } catch (error) {
    release();
    throw error;
  }
  return answer;
}

/** Lets go once: when told to, or when the client is gone before its socket was opened. */
function untilGone(socket: Socket, release: () => void): () => void {
  let isHeld = true;
  const letGo = () => {
    if (isHeld) release();
    isHeld = false;
  };
  if (socket.destroyed) letGo();
  else socket.once('close', letGo);
  return letGo;
}

async function readyToOpen(firehose: Firehose, { sockets, tickets }: SessionsPart, request: Request, { asked, ...consumer }: Consumer): Promise<Consumer & { start: Start }> {
  const subscription = asStream(asked.subscription);
  const start = await startAt(firehose.log, asked.requested, subscription.filter);
  await loadMeter(firehose, subscription);
  await sockets.load();
  await tickets.take(request);
  return { ...consumer, asked: { ...asked, subscription }, start };
}

/** Sockets that were let in and are about to leave HTTP. */
const accepted = new WeakMap<Request, Consumer & { start: Start; release(): void }>();

export function socketUpgrade(firehose: Firehose, part: SessionsPart): UpgradeHandler {
  const { log } = firehose;
  return (req, socket, head, request) => {
    const { session, presented, asked, start, release } = accepted.get(request)!;
    let member: Member;
    let acknowledged = -1;
    part.sockets.accept(req, socket as Socket, head, request, {
      open(transport) {
        member = joinStream(firehose, asked, start, transport);
        noteStart(firehose, part, session, presented);
        return member;
      },
      acknowledge(id) {
        const read = readEventId(id);
        if (read?.epoch !== log.epoch() || read.seq > sentTo(member, log)) return 'unsent';
        if (read.seq <= acknowledged) return 'known';
        acknowledged = read.seq;
        part.sessions.note(session, { epoch: read.epoch, seq: read.seq });
        return 'moved';
      },
      closed: part.sessions.writeNow,
    });
    release();
  };
}

/** Who is live and has nothing waiting has everything: what was not sent was not for it. */
function sentTo({ isLive, group, cursor }: Member, log: Log): number {
  return isLive && group.pending.length === 0 ? Math.max(cursor, log.position()) : cursor;
}

interface Consumer {
  session: Session;
  /** What the client says it has read. */
  presented: Requested | null;
  asked: StreamAsked;
}

async function consumerOf({ civic, subscribe }: Firehose, { sessions, consumers }: SessionsPart, request: Request): Promise<Consumer> {
  refuseBrokenTrace(request);
  const caller = callerOf(request);
  const session = await sessions.find(caller, idIn(request));
  const presented = requestedId(request);
  const subscription = await subscribe(civic.db.read, { ...session.query, cursor: null }, caller);
  return {
    session, presented,
    asked: {
      subscription, access: accessOf(caller, request), sessionId: session.id, snapshot: `/api/firehose/sessions/${session.id}/snapshot`,
      requested: presented ?? storedId(session),
      opened(member) {
        consumers.add(session.id, member);
        // Deleted meanwhile?
        sessions.find(caller, session.id).catch(() => member.end('revoked'));
      },
    },
  };
}

function storedId({ position }: Session): Requested | null {
  return position && { ...position, text: `${position.epoch}-${position.seq}` };
}

/** An id of ours that this log has got to says what was read. */
function noteStart({ log }: Firehose, { sessions }: SessionsPart, session: Session, presented: Requested | null): void {
  const isRead = presented !== null && presented.epoch === log.epoch() && presented.seq <= log.position();
  sessions.note(session, isRead ? { epoch: log.epoch(), seq: presented.seq } : null);
}

function refuseHead({ method }: Request): void {
  if (method === 'head') throw problem('method_not_allowed', { detail: 'HEAD is not possible for what has no end.', headers: { allow: 'GET, OPTIONS' } });
}
