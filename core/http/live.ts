import { Boom } from '@hapi/boom';
import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import Joi from 'joi';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { lazily } from '../lazy.ts';
import { problem } from '../problems.ts';
import { addressGroup } from './client-address.ts';
import { exceededHeaders } from './exceeded.ts';
import { textFrame } from './frame.ts';
import { comesFromOurPage } from './forms.ts';
import { limitMessages } from './message-limit.ts';
import { clientAddressOf } from './state.ts';
import { upgradeOnly, type Upgrades } from './upgrade.ts';
import { parseUrl } from '../url.ts';

/** What a plugin tells the pages that follow it. */
export interface LiveTopic {
  /** To whoever follows, here and now; nobody gets it later. It is public. */
  publish(message: unknown): void;
}

export interface Live {
  /** While plugins register. */
  topic(path: string): LiveTopic;
}

interface Limits {
  connections: number;
  perAddress: number;
  /** How many messages a connection may send in a minute, pings and pongs among them. */
  messages: number;
  topics: number;
  /** What it may have left unread before it is dropped. */
  unreadBytes: number;
}

/** The connections that follow a topic, with the raw socket of each. */
type Followers = Map<WebSocket, Duplex>;

interface Sockets {
  all: WebSocketServer;
  hand: ReturnType<Upgrades['adopt']>;
}

const LIMITS: Limits = { connections: 5000, perAddress: 100, messages: 120, topics: 10, unreadBytes: 256 * 1024 };
const MOST_BYTES = 4096;
const MINUTE_SECONDS = 60;
const POLICY = 1008;
/** Half as often as nes does by default: pings are nearly all that idle pages cost. */
const HEARTBEAT = { interval: 30_000, timeout: 10_000 };
/** How long a stopping server waits for the goodbye of its clients. */
const GOODBYE_MS = 1000;
const RETRY_SECONDS = 60;

const nes = lazily(() => import('@hapi/nes'));

export const LIVE_PATH = '/live';

/**
 * Live updates of pages, by nes at `/live`. It holds public news only and knows no callers. Its upgrades pass through a
 * route like all others, so limits, headers and log are the same. nes registers itself with the first page that follows.
 */
export function createLive(server: Server, upgrades: Upgrades, limits: Limits = LIMITS): Live {
  const topics = new Map<string, Followers>();
  const addresses = new Map<string, number>();
  let loading: Promise<Sockets> | null = null;
  let loaded: Sockets | null = null;
  let isStopping = false;

  async function admit(request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    if (!comesFromOurPage(request) && !comesFromSameHost(request)) throw problem('forbidden', { detail: 'Only pages of this instance follow its live updates. Programs read the interface at /docs.' });
    const response = upgradeOnly(request, h);
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    loaded = await loading;
    if (isStopping || loaded.all.clients.size >= limits.connections) throw problem('unavailable', { detail: 'There is no room for another live connection now.', headers: { 'retry-after': String(RETRY_SECONDS) } });
    if ((addresses.get(groupOf(request)) ?? 0) >= limits.perAddress) throw problem('too_many_requests', { detail: `${limits.perAddress} live connections are open from this address already.`, headers: exceededHeaders({ limit: limits.perAddress, resetAt: Date.now() + RETRY_SECONDS * 1000, now: Date.now() }) });
    return response;
  }

  async function load(): Promise<Sockets> {
    const { plugin } = await nes();
    server.ext('onPreStop', async () => {
      isStopping = true;
      await sayGoodbye(sockets.all);
    });
    // By hand and not by `server.register`, so that no upgrade reaches it by itself in between.
    (plugin as unknown as { register(server: Server, options: object): void }).register(startedView(server), { auth: false, heartbeat: HEARTBEAT });
    const hand = upgrades.adopt();
    const sockets = { all: (server.plugins as unknown as { nes: { _listener: { _wss: WebSocketServer } } }).nes._listener._wss, hand };
    Object.assign(sockets.all.options, { maxPayload: MOST_BYTES, autoPong: false });
    const raw = new WeakMap<WebSocket, Duplex>();
    sockets.all.prependListener('connection', (client, { socket }) => {
      raw.set(client, socket);
      guard(client, socket, limits);
    });
    const counted = countingTopics(limits.topics);
    for (const [path, followers] of topics) server.subscription(path, following(followers, raw, counted));
    return sockets;
  }

  function count(request: Request, socket: Duplex): void {
    const group = groupOf(request);
    addresses.set(group, (addresses.get(group) ?? 0) + 1);
    socket.once('close', () => {
      const left = addresses.get(group)! - 1;
      if (left > 0) addresses.set(group, left);
      else addresses.delete(group);
    });
  }

  function addRoute(): void {
    server.route({ method: 'GET', path: LIVE_PATH, options: { plugins: { civic: { internal: true, rate: 'stream' } } }, handler: admit });
    upgrades.add(LIVE_PATH, (req, socket, head, request) => {
      count(request, socket);
      loaded!.hand(req, socket, head);
    });
  }

  return {
    topic(path) {
      if (topics.size === 0) addRoute();
      if (topics.has(path)) throw new Error(`The live topic ${path} is declared twice`);
      const followers: Followers = new Map();
      topics.set(path, followers);
      return { publish(message) { if (followers.size > 0 && !isStopping) sendToAll(followers, textFrame(JSON.stringify({ type: 'pub', path, message })), limits.unreadBytes); } };
    },
  };
}

/** What is to be done before the start is done at once: the server runs already. */
function startedView(server: Server): Server {
  const ext = (event: 'onPreStart' | 'onPreStop', method: () => void): void => (event === 'onPreStart' ? method() : server.ext(event, method));
  return Object.create(server, { ext: { value: ext } }) as Server;
}

/** Whoever reads pages at another address than the public one, such as 127.0.0.1, follows them there. */
function comesFromSameHost({ headers }: Request): boolean {
  return parseUrl(String(headers['origin']))?.host === headers['host'];
}

function groupOf(request: Request): string {
  return addressGroup(clientAddressOf(request));
}

const topicPath = Joi.string().max(200).pattern(/^\//);
const id = Joi.alternatives(Joi.number(), Joi.string().max(40)).required();

/** All that our pages say in nes' protocol. It would also pass requests on to any route, which have their own door. */
const clientMessage = Joi.alternatives(
  Joi.object({ type: Joi.valid('hello').required(), id, version: Joi.string().max(10).required(), subs: Joi.array().items(topicPath).max(50) }),
  Joi.object({ type: Joi.valid('sub', 'unsub').required(), id, path: topicPath.required() }),
  Joi.object({ type: Joi.valid('ping').required(), id }),
);

/** Writes one frame to all: nes would serialize and queue the message for each connection. */
function sendToAll(followers: Followers, frame: Buffer, unreadBytes: number): void {
  for (const [client, socket] of followers) {
    if (client.readyState !== client.OPEN) continue;
    if (client.bufferedAmount > unreadBytes) client.terminate();
    else socket.write(frame);
  }
}

/**
 * Checks what a client sends before nes sees it, because nes throws on malformed messages. Also bounds what the client
 * leaves unread: nes would wait for one slow client before it sends to the next, and buffer everything for it.
 */
function guard(client: WebSocket, socket: Duplex, limits: Limits): void {
  const { emit, send } = client;
  const close = (reason: string): boolean => {
    client.close(POLICY, reason);
    return true;
  };
  const limit = limitMessages(client, socket, { burst: limits.messages, perSecond: limits.messages / MINUTE_SECONDS, onExceeded: () => close('Too many messages') });
  client.emit = ((event: string, ...given: unknown[]) => {
    if (event === 'message' && !limit.spend()) return true;
    if (event === 'message' && !isUnderstood(given[0] as Buffer)) return close('The message is not understood');
    return emit.call(client, event, ...given);
  }) as typeof emit;
  client.send = ((data: string, done?: () => void) => {
    if (client.bufferedAmount > limits.unreadBytes) client.terminate();
    else (send as (data: string) => void).call(client, data);
    if (done) process.nextTick(done);
  }) as typeof send;
}

/** What the script of our pages responds to each ping of nes; checked without the schema, because it is nearly all that connections send. */
const PONG = Buffer.from('{"type":"ping","id":1}');

function isUnderstood(data: Buffer): boolean {
  if (PONG.equals(data)) return true;
  try {
    return clientMessage.validate(JSON.parse(data.toString()), { convert: false }).error === undefined;
  } catch {
    return false;
  }
}

interface TopicCount {
  add(socket: object): void;
  remove(socket: object): void;
}

function countingTopics(most: number): TopicCount {
  const counts = new WeakMap<object, number>();
  const move = (socket: object, by: number): void => { counts.set(socket, (counts.get(socket) ?? 0) + by); };
  return {
    add(socket) {
      if ((counts.get(socket) ?? 0) >= most) throw new Boom(`A connection follows at most ${most} topics`, { statusCode: 400 });
      move(socket, 1);
    },
    remove: (socket) => move(socket, -1),
  };
}

/** Keeps the followers of a topic as nes subscribes and unsubscribes them, also when a connection ends. */
function following(followers: Followers, raw: WeakMap<WebSocket, Duplex>, counted: TopicCount): object {
  return {
    auth: false,
    onSubscribe(socket: { _ws: WebSocket }) {
      counted.add(socket);
      followers.set(socket._ws, raw.get(socket._ws)!);
    },
    onUnsubscribe(socket: { _ws: WebSocket }) {
      counted.remove(socket);
      followers.delete(socket._ws);
    },
  };
}

async function sayGoodbye(sockets: WebSocketServer): Promise<void> {
  const patience = AbortSignal.timeout(GOODBYE_MS);
  await Promise.all([...sockets.clients].map(async (client) => {
    client.close(1001, 'The server stops');
    await once(client, 'close', { signal: patience }).catch(() => client.terminate());
  }));
}
