import { textFrame } from 'civic';
import type { Delivery } from '../query/filter.ts';

/** How a message is sent: as a server-sent event in a chunk (HTTP/1.1) or without framing (HTTP/1.0), or as a WebSocket text frame. */
export type Format = 'chunked' | 'unframed' | 'websocket';

/** JSON texts that all messages of a flush have in common. */
export interface Context {
  query: string;
  workspace: string;
  usage: string;
  delivered_at: string;
}

/** Some deliveries in order, each as JSON; as bytes for each format once a connection needs them. */
export interface Batch {
  first: number;
  last: number;
  messages: Message[];
  bytes: Partial<Record<Format, Buffer>>;
}

export interface Message {
  seq: number;
  id: string;
  json: string;
}

export function eventId(epoch: string, seq: number): string {
  return `${epoch}-${seq}`;
}

export function batchOf(epoch: string, deliveries: Delivery[], context: Context): Batch {
  const tail = tailOf(context);
  const messages = deliveries.map(({ seq, version, isRetracted }): Message => {
    const id = eventId(epoch, seq);
    return { seq, id, json: `{"type":"firehose.signal","event_id":"${id}","signal":${version.json}${isRetracted ? ',"retracted":true' : ''}${tail}` };
  });
  return { first: messages[0]!.seq, last: messages.at(-1)!.seq, messages, bytes: {} };
}

function tailOf({ query, workspace, usage, delivered_at }: Context): string {
  return `,"query":${query},"workspace":${workspace},"usage":${usage},"delivered_at":"${delivered_at}"}`;
}

/** The whole batch, or what of it comes after `seq`. */
export function bytesAfter(batch: Batch, format: Format, seq: number): Buffer {
  if (seq < batch.first) return batch.bytes[format] ??= bytesOf(batch.messages, format);
  return bytesOf(batch.messages.filter((message) => message.seq > seq), format);
}

function bytesOf(messages: Message[], format: Format): Buffer {
  if (format === 'websocket') return Buffer.concat(messages.map(({ json }) => textFrame(json)));
  return eventBytes(format, messages.map(({ id, json }) => `id: ${id}\nevent: firehose.signal\ndata: ${json}\n\n`).join(''));
}

export interface Ready {
  event_id: string;
  session_id: string | null;
  resume: { requested: string | null; status: string; from: string };
  last_event_id: string;
  snapshot_url?: string;
}

export function readyBytes(format: Format, ready: Ready, context: Context, retry: number): Buffer {
  const json = `{"type":"firehose.ready",${JSON.stringify(ready).slice(1, -1)}${tailOf(context)}`;
  if (format === 'websocket') return textFrame(json);
  return eventBytes(format, `retry: ${retry}\nid: ${ready.event_id}\nevent: firehose.ready\ndata: ${json}\n\n`);
}

/** `id:` is told only to those who have everything up to it. */
export function heartbeatBytes(format: Format, id: string, isCaughtUp: boolean, context: Context): Buffer {
  const json = `{"type":"heartbeat","event_id":"${id}"${tailOf(context)}`;
  if (format === 'websocket') return textFrame(json);
  return eventBytes(format, `${isCaughtUp ? `id: ${id}\n` : ''}event: heartbeat\ndata: ${json}\n\n`);
}

/** Ends a chunked response. */
export const LAST_CHUNK = '0\r\n\r\n';

/** Server-sent events as they are written to a socket: one chunk for all of them, so that clients that read by chunks are not late. */
function eventBytes(format: 'chunked' | 'unframed', events: string): Buffer {
  return Buffer.from(format === 'chunked' ? `${Buffer.byteLength(events).toString(16)}\r\n${events}\r\n` : events);
}
