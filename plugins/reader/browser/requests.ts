import type { FetchOptions, FetchResponse } from 'civic';
import { createPlaces } from '../fetch/places.ts';
import { Refusal } from '../fetch/refusal.ts';
import { isOverloaded } from '../fetch/retry.ts';

const MOST_REQUESTS = 100;
/** Each has a robots.txt, which is stored. */
const MOST_ORIGINS = 10;
/** To each origin but that of the page, which did not ask to be visited. */
const MOST_ELSEWHERE = 20;
const MOST_BYTES = 20_000_000;
const AT_ONCE = 4;
const MOST_POSTED = 1_000_000;

/** A request of a page, as `Fetch.requestPaused` describes it. */
export interface PausedRequest {
  requestId: string;
  resourceType: string;
  frameId: string;
  request: { url: string; method: string; headers: Record<string, string>; postData?: string; hasPostData?: boolean };
}

/** What the page gets: a response, or null for a failed request. */
export type Reply = { status: number; headers: Record<string, string>; body: Uint8Array } | null;

/** Sends a request through the guards of this instance, and calls `admit` before each request of a chain of redirects. Throws when one of them refuses it, and when it fails. */
export type Load = (url: string, options: Pick<FetchOptions, 'method' | 'headers' | 'body' | 'max_bytes'> & { admit(url: URL): void }) => Promise<FetchResponse>;

export interface Requests {
  reply(paused: PausedRequest): Promise<Reply>;
  /** Whether the page has had all requests that it may have. */
  isSpent(): boolean;
  bytes(): number;
}

/** Answers the requests of one page. `page` is what was read of the address that is rendered: it is not requested again. */
export function createRequests(load: Load, page: { url: string } & NonNullable<Reply>, mainFrame: string): Requests {
  const known = new Map<string, NonNullable<Reply>>([[page.url, page]]);
  const places = createPlaces(AT_ONCE);
  const own = new URL(page.url).origin;
  /** How many requests each other origin may still get. */
  const left = new Map<string, number>();
  let requests = 0;
  let bytes = 0;

  async function reply(paused: PausedRequest): Promise<Reply> {
    const { resourceType, request: { method, headers } } = paused;
    if (resourceType === 'Stylesheet') return { status: 200, headers: { 'content-type': 'text/css' }, body: Buffer.alloc(0) };
    if (!isWanted(paused, mainFrame)) return null;
    if (method === 'OPTIONS') return preflight(headers);
    if (resourceType === 'Document') return document(paused);
    return loaded(paused);
  }

  function admit({ origin, host }: URL): void {
    if (origin === own) return;
    const more = left.get(origin) ?? (left.size < MOST_ORIGINS - 1 ? MOST_ELSEWHERE : 0);
    if (more === 0) throw new Refusal('host_busy', `The page requests too much from ${host}.`);
    left.set(origin, more - 1);
  }

  /** An overloaded origin gets no further request of the page. */
  function stop(origin: string): void {
    if (origin !== own) left.set(origin, 0);
  }

  /** A page that was redirected is answered with a redirect, so that the browser has its address. */
  async function document(paused: PausedRequest): Promise<Reply> {
    const { url } = paused.request;
    const held = known.get(url);
    known.delete(url);
    if (held) return held;
    const response = await loaded(paused);
    if (!response || response.url === url) return response;
    known.set(response.url, response);
    return { status: 302, headers: { location: response.url }, body: Buffer.alloc(0) };
  }

  async function loaded({ request: { url, method, headers, postData } }: PausedRequest): Promise<NonNullable<Reply> & { url: string } | null> {
    if (++requests > MOST_REQUESTS) return null;
    const release = await places.take('page', Infinity, () => new Refusal('browser_busy', 'The page requests too much.'));
    try {
      if (bytes >= MOST_BYTES) return null;
      const response = await load(url, { method: method as 'GET', headers: ownHeaders(headers), max_bytes: MOST_BYTES - bytes, admit, ...(postData !== undefined && { body: postData }) });
      bytes += response.body.length;
      if (isOverloaded(response.status)) stop(new URL(response.url).origin);
      return { url: response.url, status: response.status, headers: kept(response.headers), body: response.body };
    } catch {
      return null;
    } finally {
      release();
    }
  }

  return { reply, isSpent: () => requests > MOST_REQUESTS || bytes >= MOST_BYTES, bytes: () => bytes };
}

function isWanted({ resourceType, frameId, request: { url, method, headers, postData = '', hasPostData } }: PausedRequest, mainFrame: string): boolean {
  if (!/^https?:/.test(url)) return false;
  if (resourceType === 'Document') return method === 'GET' && frameId === mainFrame;
  if (!['Script', 'XHR', 'Fetch'].includes(resourceType) || /event-stream/.test(headers['Accept'] ?? '')) return false;
  if (hasPostData && (postData === '' || postData.length > MOST_POSTED)) return false;
  return ['GET', 'HEAD', 'POST', 'OPTIONS'].includes(method);
}

/** Answers the question whether another origin accepts a request: the response to the request itself has the permission to read it. */
function preflight(headers: Record<string, string>): Reply {
  return {
    status: 204, body: Buffer.alloc(0),
    headers: { 'access-control-allow-origin': headers['Origin'] ?? '*', 'access-control-allow-methods': 'GET, HEAD, POST', 'access-control-allow-headers': headers['Access-Control-Request-Headers'] ?? '*' },
  };
}

/** Returns the headers that the page chose; those of the browser are replaced by those of this instance. */
function ownHeaders(headers: Record<string, string>): Record<string, string> {
  const isOfBrowser = (name: string) => /^(cookie|user-agent|host|connection|content-length|accept-encoding|upgrade-insecure-requests|sec-.*|if-.*|range)$/i.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfBrowser(name)));
}

/** The body is unpacked, and no cookies are kept. */
function kept(headers: Record<string, string>): Record<string, string> {
  const isDropped = (name: string) => /^(set-cookie|content-encoding|content-length|transfer-encoding|connection|keep-alive|alt-svc|link|refresh|report-to|nel|.*-report-only)$/i.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isDropped(name)));
}
