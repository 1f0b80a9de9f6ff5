import type { Request } from '@hapi/hapi';
import { lazily, limitMessages } from 'civic';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { EndReason, Revocable } from '../stream/access.ts';
import type { Transport } from '../stream/member.ts';
import { SUBPROTOCOL } from './handshake.ts';
import { ack, ping } from './schemas.ts';

const loadWs = lazily(() => import('ws'));

/** What one open socket is for. */
export interface SocketUser {
  /** Sends what there is to send from now on. */
  open(transport: Transport): OpenSocket;
  /** Moves the session's position: `moved` forward, `known` when it was there already, `unsent` for an event that was not sent. */
  acknowledge(eventId: string): 'moved' | 'known' | 'unsent';
  closed(): void;
}

export interface OpenSocket extends Revocable {
  /** How many signals were sent. */
  delivered: number;
}

export interface SocketsContext {
  headers(request: Request): Record<string, string>;
  /** After so long without a sign of life a peer is asked for one, and after as long again given up. */
  silence_ms: number;
}

export interface Sockets {
  /** Loads what sockets need; before the first `accept`. */
  load(): Promise<void>;
  accept(req: IncomingMessage, socket: Socket, head: Buffer, request: Request, user: SocketUser): void;
  start(): void;
  /** Cuts off those that are still open. */
  stop(): void;
}

/** Clients only ever say `ack` and `ping`. */
const MOST_BYTES = 4096;
/** A client that does not read gets no pongs. */
const MOST_UNREAD = 64 * 1024;
/** One ack for each signal is not counted; all other messages are limited. */
const BURST = 100;
const MESSAGES_PER_SECOND = 10;
const CLOSE_MS = 3000;
const POLICY = 1008;

const CLOSINGS: Record<EndReason, [code: number, reason: (lastId: string) => string]> = {
  ended: [1000, () => 'This stream has ended; connect again to go on'],
  going_away: [1001, () => 'The server is going away; connect again'],
  revoked: [POLICY, () => 'Access has ended or changed'],
  slow: [1013, (lastId) => JSON.stringify({ error: 'consumer_too_slow', resume: lastId })],
};

/** The WebSocket side of the Firehose: what the hub writes goes to the raw socket, what clients say is read here. */
export function createSockets({ headers, silence_ms }: SocketsContext): Sockets {
  const requests = new WeakMap<IncomingMessage, Request>();
  const open = new Map<WebSocket, { socket: Socket; isAlive: boolean }>();
  let server: WebSocketServer | undefined;
  let loading: Promise<void> | undefined;
  let asking: NodeJS.Timeout | undefined;

  async function makeServer(): Promise<void> {
    const { WebSocketServer: Server } = await loadWs();
    const options = { noServer: true, clientTracking: false, perMessageDeflate: false, autoPong: false, maxPayload: MOST_BYTES, closeTimeout: CLOSE_MS, handleProtocols: () => SUBPROTOCOL };
    server = new Server(options);
    server.on('headers', (lines, req) => { for (const [name, value] of Object.entries(headers(requests.get(req)!))) lines.push(`${name}: ${value}`); });
  }

  function askForLife(): void {
    for (const [client, state] of open) {
      // The hub watches those that are slow.
      if (state.socket.writableLength > 0) continue;
      if (!state.isAlive) {
        client.terminate();
        continue;
      }
      state.isAlive = false;
      client.ping();
    }
  }

  function serve(client: WebSocket, socket: Socket, user: SocketUser): void {
    const state = { socket, isAlive: true };
    const isReading = (): boolean => socket.writableLength < MOST_UNREAD;
    const member = user.open({ socket, format: 'websocket', close: (reason, lastId) => client.close(CLOSINGS[reason][0], CLOSINGS[reason][1](lastId)) });
    let acks = 0;
    // Nothing may follow the frame that closes.
    const refuse = (reason: string): void => {
      client.close(POLICY, reason);
      member.end('ended');
    };
    const limit = limitMessages(client, socket, { burst: BURST, perSecond: MESSAGES_PER_SECOND, onExceeded: () => refuse(`More than ${MESSAGES_PER_SECOND} messages a second besides one ack for each signal`) });
    const handlers: Record<ClientMessage['type'], (message: ClientMessage) => void> = {
      ping: () => { if (limit.spend() && isReading()) client.send('{"type":"pong"}'); },
      ack({ event_id }) {
        const result = user.acknowledge(event_id!);
        if (result === 'unsent') refuse('That event was not sent here');
        else if (result === 'known' || ++acks > member.delivered) limit.spend();
      },
    };
    open.set(client, state);
    client.on('close', () => {
      open.delete(client);
      user.closed();
    });
    // What breaks the protocol is closed by `ws` with the code that says so.
    client.on('error', () => member.end('ended'));
    for (const event of ['ping', 'pong', 'message']) client.on(event, () => { state.isAlive = true; });
    client.on('message', (data, isBinary) => {
      if (client.readyState !== client.OPEN) return;
      const message = isBinary ? null : messageOf(data);
      if (message) handlers[message.type](message);
      else refuse('Only {"type":"ack","event_id":"…"} and {"type":"ping"} are understood');
    });
  }

  return {
    load: () => (loading ??= makeServer().catch((error: unknown) => {
      loading = undefined;
      throw error;
    })),
    accept(req, socket, head, request, user) {
      requests.set(req, request);
      server!.handleUpgrade(req, socket, head, (client) => serve(client, socket, user));
    },
    start() { asking = setInterval(askForLife, silence_ms).unref(); },
    stop() {
      clearInterval(asking);
      for (const client of open.keys()) client.terminate();
    },
  };
}

interface ClientMessage {
  type: 'ack' | 'ping';
  event_id?: string;
}

/** What a client says, or null when it is nothing that clients say. */
function messageOf(data: RawData): ClientMessage | null {
  try {
    const said = JSON.parse(String(data)) as unknown;
    return [ack, ping].some((schema) => !schema.validate(said, { convert: false }).error) ? said as ClientMessage : null;
  } catch {
    return null;
  }
}
