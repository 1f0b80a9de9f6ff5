import { lazily } from '../lazy.ts';
import type { Agent, Dispatcher } from 'undici';
import { decoded, readBody, refusePacked, tooLarge, unpacked } from './fetch/body.ts';
import { createConnector, type ConnectSettings } from './fetch/connect.ts';
import { asFetchError, FetchError, shown, stopping } from './fetch/error.ts';
import { checkedUrl, isRedirect, nextHop, type Hop } from './fetch/redirect.ts';

const loadUndici = lazily(() => import('undici'));

export { FetchError, type FetchErrorCode } from './fetch/error.ts';

export interface FetchOptions {
  method?: 'GET' | 'HEAD' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For everything together: all redirects, and the whole body. */
  timeout_seconds?: number;
  /** For the body as sent, and again for the body unpacked. */
  max_bytes?: number;
  max_redirects?: number;
  /** Called before each request, also after a redirect; throwing ends the call with that error. The time limit does not count what it waits. */
  beforeRequest?(url: URL): Promise<void>;
}

/** A request of a call that was redirected. */
export interface FetchHop {
  url: string;
  status: number;
}

export interface FetchResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The address that answered, after redirects. */
  url: string;
  /** The redirects before it, in their order. */
  hops: FetchHop[];
  /** Unpacked from gzip, deflate or br. */
  body: Uint8Array;
  text(): string;
  json(): unknown;
}

/** An answer whose body comes piece by piece. Reading fails with a `FetchError` when the connection does. */
export interface FetchStream extends Pick<FetchResponse, 'status' | 'headers' | 'url' | 'hops'> {
  /** As it was sent, so ask for no packing. Leaving the loop ends the connection. */
  body: AsyncIterable<Uint8Array>;
}

export interface Fetch {
  /** Asks another machine. Any status is an answer; what is not an answer rejects with a `FetchError`. */
  (url: string, options?: FetchOptions): Promise<FetchResponse>;
  /**
   * For answers that do not end: it resolves with the headers, for which alone the time limit is. No size is too large
   * unless `max_bytes` is given. The signal ends it at any time.
   */
  stream(url: string, options: FetchOptions & { signal: AbortSignal }): Promise<FetchStream>;
}

export interface FetchSettings extends ConnectSettings {
  timeoutSeconds: number;
  maxBytes: number;
  maxRedirects: number;
  userAgent: string;
}

interface Call {
  hop: Hop;
  redirects: number;
  signal: AbortSignal;
  /** Waits for the caller's permission to request an address; the time limit stands still. */
  permit(url: URL): Promise<void>;
  /** Fails when the call is aborted. */
  inTime<T>(work: Promise<T>): Promise<T>;
  /** From here on it has no time limit. */
  lift(): void;
  end(): void;
}

interface Answered {
  hop: Hop;
  answer: Dispatcher.ResponseData;
  hops: FetchHop[];
}

/**
 * The one way out to the network. Each new connection goes to an address that was checked just before, as bytes and
 * not as spelled, so neither a redirect nor a changing name leads to a private one. Any port may be asked. No proxy
 * of the environment is used and no cookie is kept. undici is loaded with the first call.
 */
export function createFetch(settings: FetchSettings): Fetch & { close(): Promise<void> } {
  let agent: Promise<Agent> | null = null;
  let isClosed = false;

  async function fetch(url: string, options: FetchOptions = {}): Promise<FetchResponse> {
    const call = begin(url, options);
    try {
      return await call.inTime(answered(call).then((result) => response(result, options.max_bytes ?? settings.maxBytes)));
    } finally {
      call.end();
    }
  }

  async function stream(url: string, options: FetchOptions & { signal: AbortSignal }): Promise<FetchStream> {
    const call = begin(url, { ...options, headers: { ...options.headers, 'accept-encoding': 'identity' } });
    try {
      const { hop, answer, hops } = await call.inTime(answered(call));
      call.lift();
      const headers = plainHeaders(answer);
      refusePacked(headers['content-encoding'] ?? '', hop.url);
      return { status: answer.statusCode, headers, url: hop.url.href, hops, body: pieces(answer.body, hop.url, call, options.max_bytes ?? Infinity) };
    } catch (error) {
      call.end();
      throw error;
    }
  }

  /** A call that is aborted by its caller, or when its time is over. */
  function begin(url: string, options: FetchOptions): Call {
    options.signal?.throwIfAborted();
    const hop = firstHop(url, options, settings.userAgent);
    if (isClosed) throw stopping(hop.url);
    const seconds = options.timeout_seconds ?? settings.timeoutSeconds;
    const stop = new AbortController();
    const onTime = () => stop.abort(new FetchError('too_slow', `${shown(hop.url)} did not answer in full within ${seconds} s. Try again later, or raise http.fetch.timeout_seconds.`));
    const onAbort = () => stop.abort(options.signal!.reason);
    const timer = createTimer(onTime, seconds * 1000);
    options.signal?.addEventListener('abort', onAbort);
    return {
      hop,
      redirects: options.max_redirects ?? settings.maxRedirects,
      signal: stop.signal,
      // undici notices an abort only once it is connected, so waiting for it could outlast the time limit.
      inTime: (work) => Promise.race([work, rejectionBy(stop.signal)]),
      async permit(to) {
        if (!options.beforeRequest) return;
        timer.pause();
        await options.beforeRequest(to);
        stop.signal.throwIfAborted();
        timer.resume();
      },
      lift: timer.pause,
      end() {
        timer.pause();
        options.signal?.removeEventListener('abort', onAbort);
        stop.abort();
      },
    };
  }

  async function answered(call: Call): Promise<Answered> {
    agent ??= createAgent(settings);
    const ready = await agent;
    call.signal.throwIfAborted();
    return follow(ready, call);
  }

  /** Ends what is under way; nothing can be fetched afterwards. */
  async function close(): Promise<void> {
    isClosed = true;
    if (agent) await (await agent).destroy();
  }

  return Object.assign(fetch, { stream, close });
}

async function createAgent(settings: FetchSettings): Promise<Agent> {
  const undici = await loadUndici();
  // The whole call has one time limit; undici's own, which start anew with each byte, would only blur it.
  return new undici.Agent({ connect: createConnector(settings, undici.buildConnector), headersTimeout: 0, bodyTimeout: 0 });
}

function firstHop(url: string, options: FetchOptions, userAgent: string): Hop {
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    url: checkedUrl(url),
    method: options.method ?? 'GET',
    headers: { 'user-agent': userAgent, 'accept': '*/*', 'accept-encoding': 'gzip, deflate, br', ...Object.fromEntries(headers) },
    body: options.body,
  };
}

/** A time limit that can stand still. */
function createTimer(onTime: () => void, milliseconds: number) {
  let left = milliseconds;
  let startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onTime, left);
  return {
    pause() {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      left -= performance.now() - startedAt;
    },
    resume() {
      startedAt = performance.now();
      timer = setTimeout(onTime, Math.max(0, left));
    },
  };
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

async function follow(agent: Agent, { hop: first, redirects: most, permit, signal }: Call): Promise<Answered> {
  const hops: FetchHop[] = [];
  let hop = first;
  for (;;) {
    await permit(hop.url);
    const answer = await ask(agent, hop, signal);
    const location = isRedirect(answer.statusCode) ? [answer.headers.location].flat()[0] : undefined;
    if (location === undefined) return { hop, answer, hops };
    answer.body.dump({ limit: 16_384, signal }).catch(() => {});
    if (hops.length >= most) throw new FetchError('too_many_redirects', `${shown(first.url)} is redirected more than ${most} times.`);
    hops.push({ url: hop.url.href, status: answer.statusCode });
    // Header values come as Latin-1; where a Location holds more than ASCII, it is UTF-8.
    hop = nextHop(hop, answer.statusCode, Buffer.from(location, 'latin1').toString());
  }
}

async function ask(agent: Agent, { url, method, headers, body }: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  try {
    return await agent.request({ origin: url.origin, path: url.pathname + url.search, method, headers, body: body ?? null, signal });
  } catch (error) {
    throw asFetchError(error, url);
  }
}

function plainHeaders(answer: Dispatcher.ResponseData): Record<string, string> {
  return Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}

async function* pieces(body: Dispatcher.ResponseData['body'], url: URL, call: Call, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(url, maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw call.signal.aborted ? call.signal.reason : asFetchError(error, url);
  } finally {
    call.end();
  }
}

async function response({ hop: { url, method }, answer, hops }: Answered, maxBytes: number): Promise<FetchResponse> {
  const headers = plainHeaders(answer);
  if (method !== 'HEAD' && Number(headers['content-length']) > maxBytes) throw tooLarge(url, maxBytes);
  const body = await unpacked(await readBody(answer.body, url, maxBytes), headers['content-encoding'] ?? '', url, maxBytes);
  const text = () => decoded(body, headers['content-type'] ?? '');
  const json = () => {
    try {
      return JSON.parse(text()) as unknown;
    } catch (cause) {
      throw new FetchError('bad_response', `${shown(url)} did not answer with JSON.`, { cause });
    }
  };
  return { status: answer.statusCode, headers, url: url.href, hops, body, text, json };
}
