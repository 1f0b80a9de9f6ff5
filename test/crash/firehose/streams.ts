import { get, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { slowness } from '../../../core/test/wait.ts';

/** A message as it came, by event stream or socket. */
export interface Frame {
  /** The `event:` of an event stream, the `type` of a socket's message. */
  event: string;
  /** The `id:` of an event stream; sockets have none. */
  id: string | null;
  data: any;
  /** As it was written. */
  text: string;
}

export interface Opening {
  url: string;
  headers?: Record<string, string>;
  onFrame(frame: Frame): void;
  /** Told once, with 200 or 101 when it opened. */
  onOpen?(status: number, body: string): void;
}

export interface Ending {
  /** Whether the server closed it in order: the whole body, or a close frame. */
  isClean: boolean;
  /** Of a socket. */
  code: number | null;
}

/** A stream or socket that can be cut and stalled. */
export interface Connection {
  readonly closed: Promise<Ending>;
  /** Reads no further, as a client whose program hangs. */
  pause(): void;
  resume(): void;
  /** Tears the wire. */
  destroy(): void;
  /** Of a socket. */
  send?(message: object): void;
}

export const SUBPROTOCOL = 'service.firehose.v1';

/** Cuts the text of an event stream into its events; `retry` lines are told apart. */
export function createParser(onFrame: (frame: Frame) => void, onRetry: (ms: number) => void = () => undefined): (chunk: string) => void {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields: Record<string, string> = {};
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':');
        if (colon === 0) continue;
        fields[colon < 0 ? line : line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '');
      }
      if (fields.retry) onRetry(Number(fields.retry));
      if (fields.data !== undefined) onFrame({ event: fields.event ?? 'message', id: fields.id ?? null, data: JSON.parse(fields.data), text: fields.data });
    }
  };
}

export function openEvents({ url, headers, onFrame, onOpen }: Opening): Connection {
  let answer: IncomingMessage | null = null;
  const request = get(url, { agent: false, headers: { accept: 'text/event-stream', ...headers } });
  const closed = new Promise<Ending>((resolve) => {
    const end = (isClean: boolean): void => resolve({ isClean, code: null });
    request.on('error', () => end(false));
    request.on('response', (response) => {
      answer = response;
      response.setEncoding('utf8');
      const isStream = response.statusCode === 200;
      let text = '';
      if (isStream) onOpen?.(200, '');
      response.on('data', isStream ? createParser(onFrame) : (chunk: string) => { text += chunk; });
      response.on('error', () => end(false));
      response.on('close', () => {
        if (!isStream) onOpen?.(response.statusCode!, text);
        end(response.complete);
      });
    });
  });
  return {
    closed,
    pause: () => { answer?.pause(); },
    resume: () => { answer?.resume(); },
    destroy: () => { request.destroy(); },
  };
}

export function openSocket({ url, headers, onFrame, onOpen }: Opening): Connection {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [SUBPROTOCOL], { headers, perMessageDeflate: false, handshakeTimeout: 20_000 * slowness });
  const closed = new Promise<Ending>((resolve) => {
    socket.on('unexpected-response', (request, response) => {
      onOpen?.(response.statusCode!, '');
      request.destroy();
      resolve({ isClean: false, code: null });
    });
    socket.on('error', () => undefined);
    socket.on('close', (code) => resolve({ isClean: code !== 1006, code }));
  });
  socket.on('open', () => onOpen?.(101, ''));
  socket.on('message', (message) => {
    const text = String(message);
    const data = JSON.parse(text);
    onFrame({ event: data.type, id: null, data, text });
  });
  return {
    closed,
    pause: () => { if (socket.readyState === WebSocket.OPEN) socket.pause(); },
    resume: () => { if (socket.readyState === WebSocket.OPEN) socket.resume(); },
    destroy: () => { socket.terminate(); },
    send: (message) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); },
  };
}
