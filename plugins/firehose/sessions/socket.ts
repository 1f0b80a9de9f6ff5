import type { Request } from '@hapi/hapi';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { EndReason, Revocable } from '../stream/access.ts';
import type { Transport } from '../stream/member.ts';
import { SUBPROTOCOL } from './handshake.ts';
import { ack, ping } from './schemas.ts';

/** What one open socket is for. */
export interface SocketUser {
  /** Sends what there is to send from now on. */
  open(transport: Transport): Revocable;
  /** The client has read up to this event. False when that was not sent. */
  acknowledge(eventId: string): boolean;
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
/** Who does not read is not answered either. */
const MOST_UNREAD = 64 * 1024;
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
    const { WebSocketServer: Server } = await import('ws');
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
    // Nothing may follow the frame that closes.
    const refuse = (reason: string): void => {
      client.close(POLICY, reason);
      member.end('ended');
    };
    const answers: Record<ClientMessage['type'], (message: ClientMessage) => void> = {
      ping: () => { if (isReading()) client.send('{"type":"pong"}'); },
      ack: ({ event_id }) => { if (!user.acknowledge(event_id!)) refuse('That event was not sent here'); },
    };
    open.set(client, state);
    client.on('close', () => open.delete(client));
    // What breaks the protocol is closed by `ws` with the code that says so.
    client.on('error', () => member.end('ended'));
    client.on('pong', () => { state.isAlive = true; });
    client.on('ping', (data) => {
      state.isAlive = true;
      if (isReading()) client.pong(data);
    });
    client.on('message', (data, isBinary) => {
      state.isAlive = true;
      const message = isBinary ? null : messageOf(data);
      if (message) answers[message.type](message);
      else refuse('Only {"type":"ack","event_id":"…"} and {"type":"ping"} are understood');
    });
  }

  return {
    load: () => (loading ??= makeServer()),
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
