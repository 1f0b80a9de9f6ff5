import { FetchError, type Fetch } from 'civic';
import { readEventId } from '../stream/start.ts';
import type { Signal } from '../types.ts';
import { createEventReader, type ServerEvent } from './events.ts';

/** A message of the origin, with the members that a relay needs. */
export type OriginMessage =
  | { kind: 'ready'; status: string; last_event_id: string }
  | { kind: 'signal'; event_id: string; signal: Signal; isRetracted: boolean }
  | { kind: 'position'; event_id: string };

export interface OriginPage {
  last_event_id: string;
  signals: Signal[];
  next_cursor: string | null;
}

export interface Origin {
  /** Yields the messages after an event, in batches, as they arrive. */
  follow(eventId: string, signal: AbortSignal): AsyncIterable<OriginMessage[]>;
  page(cursor: string | null, signal: AbortSignal): Promise<OriginPage>;
}

/** Why the origin cannot be followed, and what the operator does about it. */
export class OriginFault extends Error {
  readonly fix: string;
  /** How long to wait, if the origin sent Retry-After. */
  readonly waitMs: number | null;

  constructor(message: string, fix: string, waitMs: number | null = null) {
    super(message);
    this.fix = fix;
    this.waitMs = waitMs;
  }
}

/** The origin sends a heartbeat every 15 s; after a longer silence the connection counts as lost. */
const SILENCE_MS = 45_000;
const PAGE = 200;
const MOST_PAGE_BYTES = 20_000_000;
/** Bounds Retry-After: an origin that sends days is still retried. */
const LONGEST_RETRY_MS = 15 * 60_000;
const OPTION = 'plugins.firehose.relay';

export function createOrigin(fetch: Fetch, url: string, apiKey: string | null): Origin {
  const address = `${url}/api/firehose?visibility=public`;
  const headers = (accept: string) => ({ accept, ...(apiKey !== null && { 'x-api-key': apiKey }) });

  async function* follow(eventId: string, signal: AbortSignal): AsyncGenerator<OriginMessage[]> {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const listen = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new OriginFault(`${url} sent nothing for ${SILENCE_MS / 1000} s`, 'check whether it runs, and whether a proxy in between buffers its responses')), SILENCE_MS);
    };
    try {
      const response = await fetch.stream(address, { headers: { ...headers('text/event-stream'), 'last-event-id': eventId }, signal: AbortSignal.any([signal, silence.signal]) });
      if (response.status !== 200 || !response.headers['content-type']?.startsWith('text/event-stream')) {
        throw faultOf(url, apiKey, { ...response, problem: await problemIn(response.body) });
      }
      const read = createEventReader();
      listen();
      for await (const piece of response.body) {
        listen();
        const messages = read(piece).flatMap(messagesOf);
        if (messages.length > 0) yield messages;
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  async function page(cursor: string | null, signal: AbortSignal): Promise<OriginPage> {
    const asked = cursor === null ? `${address}&limit=${PAGE}` : `${url}/api/firehose?limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(asked, { headers: headers('application/json'), signal, max_bytes: MOST_PAGE_BYTES });
    if (response.status !== 200) throw faultOf(url, apiKey, { ...response, problem: problemOf(response.text()) });
    const found = response.json() as OriginPage;
    if (!Array.isArray(found.signals) || typeof found.last_event_id !== 'string') throw noFirehose(url);
    checkedId(found.last_event_id);
    return { ...found, signals: found.signals.filter((one) => one !== null && typeof one === 'object') };
  }

  return { follow, page };
}

interface Message {
  event_id: string;
  last_event_id: string;
  resume: { status: string };
  signal: Signal;
  retracted?: boolean;
}

function messagesOf({ event, id, data }: ServerEvent): OriginMessage[] {
  const message = parsed(data) as Message | null;
  // A message that is not JSON is skipped, so that it does not stop the relay.
  if (!message) return id === null ? [] : [{ kind: 'position', event_id: checkedId(id) }];
  if (event === 'firehose.ready') return [{ kind: 'ready', status: message.resume.status, last_event_id: checkedId(message.last_event_id) }];
  if (event === 'firehose.signal') return [{ kind: 'signal', event_id: checkedId(message.event_id), signal: message.signal, isRetracted: message.retracted === true }];
  // A heartbeat has an id when nothing is left to send.
  return event === 'heartbeat' && id !== null ? [{ kind: 'position', event_id: checkedId(id) }] : [];
}

/** Rejects an invalid event id: a stored one would be sent with every later request and fail each time. */
function checkedId(id: string): string {
  if (typeof id !== 'string' || !readEventId(id)) throw new Error(`${JSON.stringify(id)?.slice(0, 100)} is not an event id`);
  return id;
}

const MOST_PROBLEM_BYTES = 65_536;

async function problemIn(body: AsyncIterable<Uint8Array>): Promise<{ detail?: string }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.length;
    if (size > MOST_PROBLEM_BYTES) break;
  }
  return problemOf(Buffer.concat(pieces).toString());
}

function problemOf(text: string): { detail?: string } {
  return (parsed(text) ?? {}) as { detail?: string };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface Refusal {
  status: number;
  headers: Record<string, string>;
  problem: { detail?: string };
}

function faultOf(url: string, apiKey: string | null, { status, headers, problem }: Refusal): OriginFault {
  const words = problem.detail ? `: ${problem.detail}` : '';
  if (status === 401 && apiKey === null) return new OriginFault(`${url} wants an API key (401)`, `make one there and put it into ${OPTION}.api_key, or ask its operator to set plugins.firehose.anonymous`);
  if (status === 401) return new OriginFault(`${url} does not accept the API key (401)${words}`, `put one that is good there into ${OPTION}.api_key`);
  if (status === 403) return new OriginFault(`${url} does not let this API key read its Firehose (403)${words}`, `use a key with the scope firehose:read, of an account whose plan has the Firehose, in ${OPTION}.api_key`);
  if (status === 429 || status === 503) return new OriginFault(`${url} asks to come again later (${status})${words}`, 'nothing: it is tried again', secondsIn(headers['retry-after']));
  return status >= 500 ? new OriginFault(`${url} failed (${status})`, 'tell its operator; it is tried again') : noFirehose(url, status);
}

function noFirehose(url: string, status?: number): OriginFault {
  return new OriginFault(`There is no Firehose at ${url}${status === undefined ? '' : ` (${status})`}`, `check ${OPTION}.url: it is the public address of the other instance, without /api`);
}

function secondsIn(header: string | undefined): number | null {
  return header !== undefined && /^\d+$/.test(header) ? Math.min(Number(header) * 1000, LONGEST_RETRY_MS) : null;
}

/** Whatever went wrong, in words for an operator. */
export function explained(error: unknown, url: string): OriginFault {
  if (error instanceof OriginFault) return error;
  if (!(error instanceof FetchError)) return new OriginFault(`${url} could not be followed: ${(error as Error).message}`, 'see the log');
  const fix = error.code === 'address_refused' ? 'for an instance in your own network set http.fetch.allow_private_addresses' : `see whether it runs, and check ${OPTION}.url`;
  return new OriginFault(error.message, fix);
}
