import type { Request, ResponseToolkit } from '@hapi/hapi';
import type { Caller, Civic } from 'civic';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FirehoseConfig } from '../config.ts';
import type { Log } from '../log/log.ts';
import { asStream, type Subscription } from '../query/subscription.ts';
import { VARY } from '../snapshot/answer.ts';
import type { Metering } from '../usage/meter.ts';
import type { Access, EndReason } from './access.ts';
import type { Counts } from './counts.ts';
import { eventId, LAST_CHUNK, type Format, type Ready } from './frames.ts';
import type { Hub } from './hub.ts';
import type { Member, Transport } from './member.ts';
import { startAt, type Requested, type Start } from './start.ts';

export interface StreamContext {
  civic: Pick<Civic<FirehoseConfig>, 'url' | 'headers' | 'config' | 'clock'>;
  log: Log;
  hub: Hub;
  meter: Metering;
  counts: Counts;
  /** Whether somebody who was let in may still read. */
  stillMay(caller: Caller): Promise<boolean>;
}

export interface StreamAsked {
  subscription: Subscription;
  access: Access;
  requested: Requested | null;
  sessionId: string | null;
  /** The path of the snapshot, for who missed something. */
  snapshot: string;
  opened?(member: Member): void;
}

/** Answers an event stream, or 204 when nothing more will ever come. */
export async function openEventStream(context: StreamContext, request: Request, h: ResponseToolkit, asked: StreamAsked) {
  const release = await context.counts.admit(asked.access);
  try {
    return await admittedStream(context, request, h, asked);
  } finally {
    release();
  }
}

async function admittedStream(context: StreamContext, request: Request, h: ResponseToolkit, asked: StreamAsked) {
  const { log, hub, civic } = context;
  const subscription = asStream(asked.subscription);
  const start = await startAt(log, asked.requested, subscription.filter);
  const isOver = subscription.filter.until <= civic.clock.now();
  if (isOver && asked.requested && !await hub.hasMore(subscription, start.after)) return h.response().code(204).header('vary', VARY);
  await loadMeter(context, subscription);
  const { res } = request.raw;
  const socket = await socketOf(res);
  if (!socket) return h.abandon;
  // The hub writes to the socket itself, without compression: one buffer, framed once, serves many connections.
  const format = request.raw.req.httpVersion === '1.1' ? 'chunked' : 'unframed';
  res.useChunkedEncodingByDefault = false;
  res.writeHead(200, { ...civic.headers(request), ...STREAM_HEADERS, ...(format === 'chunked' && CHUNKED), 'content-location': civic.url(asked.snapshot) });
  res.flushHeaders();
  forgetRequest(res);
  joinStream(context, { ...asked, subscription }, start, { socket, format, close: (reason) => closeSocket(socket, format, reason) });
  return h.abandon;
}

/** hapi keeps a request until its answer is finished, which this one is not for minutes: it would be half of what a stream costs. */
function forgetRequest(res: ServerResponse): void {
  // The first is Node's own, and would end the connection.
  const [, ...hapis] = res.listeners('finish');
  res.removeAllListeners('finish');
  for (const finished of hapis) finished.call(res);
  res.removeAllListeners('close');
}

/** A request that was sent behind another one on the same connection has none yet, and is not told when that ends; null when the client has gone. */
async function socketOf(res: ServerResponse): Promise<Socket | null> {
  if (!res.socket && !res.destroyed) await turnOf(res);
  return res.destroyed || res.req.socket.destroyed ? null : res.socket;
}

async function turnOf(res: ServerResponse): Promise<void> {
  const decided = new AbortController();
  const { signal } = decided;
  await Promise.race([once(res, 'socket', { signal }), once(res.req.socket, 'close', { signal })]).catch(() => undefined);
  decided.abort();
}

const LEAVE_MS = 3000;

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'content-encoding': 'identity',
  'x-accel-buffering': 'no',
  vary: VARY,
  connection: 'close',
};
const CHUNKED = { 'transfer-encoding': 'chunked' };

export async function loadMeter({ meter }: Pick<StreamContext, 'meter'>, { workspace }: Subscription): Promise<void> {
  if (workspace) await meter.load(workspace.id);
}

/** The last step of both kinds of stream, without a pause after `startAt`'s answer is used. */
export function joinStream({ log, hub, civic, stillMay }: StreamContext, asked: StreamAsked, start: Start, transport: Transport): Member {
  const isIncomplete = start.resume.status === 'gap' || start.resume.status === 'epoch_changed';
  const ready: Ready = {
    event_id: eventId(log.epoch(), start.after),
    session_id: asked.sessionId,
    resume: start.resume,
    last_event_id: eventId(log.epoch(), Math.max(log.position(), start.after)),
    ...(isIncomplete && { snapshot_url: civic.url(asked.snapshot) }),
  };
  const member = hub.open({ subscription: asked.subscription, access: asked.access, after: start.after, transport, ready });
  asked.opened?.(member);
  // Access that ended since the question was asked ended when there was nothing open yet that could be told.
  const { caller } = asked.access;
  if (caller) void stillMay(caller).then((may) => { if (!may) member.end('revoked'); }, () => member.end('going_away'));
  return member;
}

/** Lets go as soon as everything is sent, without waiting for the other side to say goodbye; who does not read is not waited for. */
function closeSocket(socket: Socket, format: Format, reason: EndReason): void {
  if (reason === 'slow') return void socket.destroy();
  if (format === 'chunked') socket.write(LAST_CHUNK);
  socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), LEAVE_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
