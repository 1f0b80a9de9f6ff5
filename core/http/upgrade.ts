import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UpgradeHandler } from '../plugin.ts';
import { problem } from '../problems.ts';
import { hasBody } from './body.ts';
import type { RequestState } from './state.ts';

/** A request that asked to leave HTTP, while it still passes through hapi like any other. */
export interface PendingUpgrade {
  socket: Duplex;
  head: Buffer;
}

type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface Upgrades {
  /** Takes over WebSocket upgrades of a GET route, once its handler has answered 2xx to them. */
  add(path: string, handler: UpgradeHandler): void;
  /** Takes upgrades from whatever else listens for them on this server, such as nes, and answers how to hand it one. Call it right after registering that. */
  adopt(): UpgradeListener;
}

const pending = new WeakMap<IncomingMessage, PendingUpgrade>();
const handlers = new WeakMap<Server['listener'], Map<string, UpgradeHandler>>();

/**
 * Node hands over every request with an Upgrade header and leaves HTTP to us. Here each goes back into hapi as an
 * ordinary request on a response of our own, so that auth, validation, limits, headers and log are the same for all:
 * a refused one gets the usual problem, and one whose Upgrade nobody offers (such as h2c) gets the usual answer.
 */
export function addUpgrades(server: Server): Upgrades {
  const { listener } = server;
  const routes = new Map<string, UpgradeHandler>();
  handlers.set(listener, routes);

  const onUpgrade: UpgradeListener = (req, socket, head) => {
    socket.on('error', destroySocket);
    // Node no longer watches a socket that it handed over.
    (socket as Socket).setTimeout(listener.timeout, destroySocket);
    const res = responseOn(socket, req);
    // An upgrade cannot be pipelined behind a response that is not sent yet.
    if (!res) return void socket.destroy();
    pending.set(req, { socket, head });
    listener.emit('request', req, res);
  };
  listener.on('upgrade', onUpgrade);
  // Node would close a CONNECT without a response, and respond to an unknown Expect without our headers.
  listener.on('connect', onUpgrade);
  listener.on('checkExpectation', (req, res) => { listener.emit('request', req, res); });

  return {
    add: (path, handler) => { routes.set(path, handler); },
    adopt() {
      const others = listener.listeners('upgrade').filter((other) => other !== onUpgrade) as UpgradeListener[];
      for (const other of others) listener.removeListener('upgrade', other);
      return (req, socket, head) => { for (const other of others) other.call(listener, req, socket, head); };
    },
  };
}

function isWebSocket(req: IncomingMessage): boolean {
  return req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket';
}

/** Stays with the socket for as long as that lives, so it must hold nothing of the request. */
function destroySocket(this: Duplex): void {
  this.destroy();
}

/** Creates a response on the socket and ends the socket with it, as Node's server does. Returns null when the socket has another response. */
export function responseOn(socket: Duplex, req: IncomingMessage): ServerResponse | null {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  if (!isAssigned(res, socket)) return null;
  const onDrain = () => { res.emit('drain'); };
  socket.on('drain', onDrain);
  res.on('finish', () => {
    socket.removeListener('drain', onDrain);
    if (!res.socket) return; // handed over
    res.detachSocket(socket as never);
    socket.end();
    process.nextTick(() => res.emit('close'));
  });
  return res;
}

function isAssigned(res: ServerResponse, socket: Duplex): boolean {
  try {
    res.assignSocket(socket as never);
    return true;
  } catch {
    return false;
  }
}

/** Adds the upgrade a request asks for, if any. A body cannot be read any more, so a request that has one is refused. */
export function noteUpgrade(request: Request, state: RequestState): void {
  state.upgrade = pending.get(request.raw.req) ?? null;
  if (!state.upgrade || !hasBody(request)) return;
  state.refusal = problem('bad_request', { detail: 'A request with a body cannot also ask for an upgrade. Send it without the Upgrade header.' });
}

/** Hands the socket to the route's own handler. True when the request has left HTTP. */
export function acceptUpgrade(request: Request, upgrade: PendingUpgrade): boolean {
  const { req, res } = request.raw;
  const handler = handlers.get(request.server.listener)?.get(request.route.path);
  if (!handler || !isWebSocket(req)) return false;
  (upgrade.socket as Socket).setTimeout(0, destroySocket);
  res.detachSocket(upgrade.socket as never);
  res.emit('finish'); // hapi forgets the connection now; from here it belongs to the handler
  handler(req, upgrade.socket, upgrade.head, request);
  return true;
}

/** The handler of a GET route that exists for its upgrade: 426 to everybody else. */
export function upgradeOnly(request: Request, h: ResponseToolkit): ResponseObject {
  if (request.civic.upgrade && isWebSocket(request.raw.req)) return h.response().code(204);
  throw problem('upgrade_required', { headers: { upgrade: 'websocket', connection: 'upgrade' } });
}
