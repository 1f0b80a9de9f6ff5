import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

export interface MessageLimitOptions {
  /** How many messages a client may send at once. */
  burst: number;
  /** How many more it may send each second. */
  perSecond: number;
  /** Called once, when the client sent too much; the socket is no longer read. */
  onExceeded(): void;
}

export interface MessageLimit {
  /** Counts one message; false when the client sent too many. */
  spend(): boolean;
}

/** Sending a pong to a client that leaves so much unread would only add to it. */
const MAX_UNREAD_BYTES = 64 * 1024;
const BYTES_PER_MESSAGE = 4096;
const CLOSE_MS = 500;
const FREE_BYTES = 128 * 1024;

/**
 * Limits what a WebSocket client sends: a token bucket of messages, in which protocol pings and pongs count too, and a bound
 * on bytes, because empty fragments cost time without ever becoming a message. Responds to pings: the server needs `autoPong: false`.
 */
export function limitMessages(client: WebSocket, socket: Duplex, { burst, perSecond, onExceeded }: MessageLimitOptions): MessageLimit {
  let tokens = burst;
  let refilledAt = performance.now();
  let bytes = 0;
  let isExceeded = false;

  function exceed(): boolean {
    if (isExceeded) return false;
    isExceeded = true;
    onExceeded();
    // Further messages are not read, not even a close frame, so the connection is ended once our own close frame can have arrived.
    client.pause();
    setTimeout(() => client.terminate(), CLOSE_MS).unref();
    return false;
  }

  function spend(): boolean {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - refilledAt) / 1000) * perSecond);
    refilledAt = now;
    if (isExceeded || tokens < 1) return exceed();
    tokens--;
    return true;
  }

  socket.prependListener('data', (chunk: Buffer) => {
    if (bytes > FREE_BYTES) exceed();
    bytes += chunk.length;
  });
  for (const event of ['message', 'ping', 'pong']) client.on(event, () => { bytes = Math.max(0, bytes - BYTES_PER_MESSAGE); });
  client.on('pong', spend);
  client.on('ping', (data: Buffer) => {
    if (spend() && client.bufferedAmount < MAX_UNREAD_BYTES) client.pong(data);
  });
  return { spend };
}
