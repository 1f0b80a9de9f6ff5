import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What one TCP connection may hold, and for how long. */
export interface ConnectionLimits {
  /** Pipelined requests without a response before the connection is closed. */
  unanswered: number;
  /** Time without a byte in either direction, such as a response that the client does not read. */
  idleMs: number;
  /** Time for all headers of a request. */
  headersMs: number;
  /** Interval of the check for late headers and late bodies. */
  checkMs: number;
  /** Time for the client to close its side after the server closed its own. */
  graceMs: number;
}

const LIMITS: ConnectionLimits = { unanswered: 100, idleMs: 60_000, headersMs: 30_000, checkMs: 5_000, graceMs: 2_000 };

type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;

/** Members that Node sets on the sockets of its server and does not document. */
interface ServerSocket extends Socket {
  _httpMessage?: ServerResponse | null;
}

export function createListener(limits: Partial<ConnectionLimits> = {}): Server {
  const { headersMs, checkMs } = { ...LIMITS, ...limits };
  // Node would reject a request without a Host header with its own text, and drop the second of two headers silently.
  return createServer({ requireHostHeader: false, joinDuplicateHeaders: true, headersTimeout: headersMs, connectionsCheckingInterval: checkMs });
}

/** Bounds the memory and the time that one connection takes. Call it when all listeners of the server are attached. */
export function limitConnections(listener: Server, limits: Partial<ConnectionLimits> = {}): void {
  const { unanswered, idleMs, graceMs } = { ...LIMITS, ...limits };
  for (const event of ['request', 'checkContinue'] as const) serveInTurn(listener, event, unanswered);

  const descriptors = descriptorLimit();
  if (descriptors !== null) listener.maxConnections = Math.max(1, descriptors - Math.max(RESERVED_DESCRIPTORS, Math.floor(descriptors / 8)));

  listener.timeout = idleMs;
  listener.on('timeout', (socket: ServerSocket) => {
    if (isReadingBody(socket)) listener.emit('clientError', Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    else socket.destroy();
  });

  // Node's server keeps a half-closed connection until the client closes its side, which a client may never do.
  function destroyLater(this: Socket): void {
    if (!this.destroyed) setTimeout(() => { this.destroy(); }, graceMs).unref();
  }
  listener.on('connection', (socket) => { socket.once('finish', destroyLater); });
}

/** Descriptors for the database, files, outgoing requests and the log: connections must not take the last one. */
const RESERVED_DESCRIPTORS = 48;

/** Returns how many descriptors this process may have open; null where the system does not state it. */
function descriptorLimit(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

/**
 * Serves the pipelined requests of a connection one after another. Node parses all requests of a chunk at once and
 * emits each; a client that does not read would make the server hold the responses to all of them.
 */
function serveInTurn(listener: Server, event: 'request' | 'checkContinue', limit: number): void {
  const serve = listener.listeners(event) as RequestListener[];
  const waiting = new WeakMap<Socket, number>();
  listener.removeAllListeners(event);

  const dispatch = (req: IncomingMessage, res: ServerResponse): void => {
    for (const one of serve) one.call(listener, req, res);
  };
  listener.on(event, (req: IncomingMessage, res: ServerResponse) => {
    // Node gives a response its socket when all earlier responses have been sent.
    if (res.socket) return dispatch(req, res);
    const { socket } = req;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > limit) return void socket.destroy();
    waiting.set(socket, count);
    res.once('socket', () => {
      waiting.set(socket, waiting.get(socket)! - 1);
      // Not inside Node's own call, which flushes the response next; and other connections get their turn.
      setImmediate(dispatch, req, res);
    });
  });
}

/** Whether the client owes the rest of a body, and can still be sent a response. */
function isReadingBody({ _httpMessage: res }: ServerSocket): boolean {
  return Boolean(res && !res.headersSent && !res.req.complete);
}
