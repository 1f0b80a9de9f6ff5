import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { createHash } from 'node:crypto';
import { isUnusual, JSON_TYPE, responseBytes, sendBytes, sizeOfBytes, type ResponseBytes } from './bytes.ts';
import { DEFAULT_LANGUAGE } from '../texts/language.ts';
import { matchesNone, weakEtag } from './conditional.ts';
import { isForPrograms } from './state.ts';

/** A response that is cached as bytes until the data it shows changes. */
export interface ReadyAnswer {
  etag: string;
  /** JSON, unless `type` names another content type. */
  body: string;
  type?: string;
  headers?: Record<string, string>;
  cacheControl?: string;
  /** Further tags, known once the response is created. */
  tags?: string[];
  /** When the response is no longer true although no data changed, in milliseconds; at the end of the UTC day when left out. */
  validUntil?: number;
}

/** The response cache: responses that all callers get alike, by URL. */
export interface ReadyAnswers {
  /** Serves from the cache; for `ext.onPostAuth` of a route, before the query is validated. */
  hit: Lifecycle.Method;
  /**
   * Creates the response and caches it, unless one of its tags was invalidated meanwhile; for the handler of the route. `make` reads all
   * that the response shows. Requests that arrive while it is created wait for it. A response of hapi, such as a redirect, is sent and not cached.
   * `address` is the canonical path of a response that has several addresses, such as those with parameters that it ignores.
   */
  answer(request: Request, h: ResponseToolkit, tag: string, make: () => Promise<ReadyAnswer | ResponseObject>, address?: string): Promise<ResponseObject | symbol>;
  /** Invalidates the cached responses with one of these tags. */
  touch(tags: Iterable<string>): void;
  touchAll(): void;
}

interface Entry {
  key: string;
  tags: string[];
  validUntil: number;
  response: ResponseBytes;
  /** The size that was added to the total. */
  size: number;
}

const DAY_MS = 86_400_000;
/** The memory of an entry in a map or a set. */
const SLOT_BYTES = 64;

/** Creates a response cache of up to `maxBytes`, which removes the least recently used responses first. A response is valid until the end of its UTC day at most. */
export function readyAnswers(options: { maxBytes: number; now(): number }): ReadyAnswers {
  const entries = new Map<string, Entry>();
  // Only tags of cached responses are here, so the size of the entries bounds this map, too.
  const byTag = new Map<string, Set<Entry>>();
  let bytes = 0;
  let touches = 0;
  /** Responses that are being created, by key; each with `touches` at its start. */
  const pending = new Map<string, { touches: number; entry: Promise<Entry | ResponseObject> }>();

  const endOfDay = () => (Math.floor(options.now() / DAY_MS) + 1) * DAY_MS;

  function remove(entry: Entry): void {
    entries.delete(entry.key);
    bytes -= entry.size;
    for (const tag of entry.tags) {
      const tagged = byTag.get(tag);
      tagged?.delete(entry);
      if (tagged?.size === 0) byTag.delete(tag);
    }
  }

  /** Counts an entry as it is now, and makes room for it. */
  function resize(entry: Entry): void {
    const size = sizeOf(entry);
    bytes += size - entry.size;
    entry.size = size;
    for (const oldest of entries.values()) {
      if (bytes <= options.maxBytes) break;
      remove(oldest);
    }
  }

  function store(entry: Entry): void {
    const old = entries.get(entry.key);
    if (old) remove(old);
    if (sizeOf(entry) > options.maxBytes / 8) return;
    entries.set(entry.key, entry);
    for (const tag of entry.tags) {
      const tagged = byTag.get(tag);
      if (tagged) tagged.add(entry);
      else byTag.set(tag, new Set([entry]));
    }
    resize(entry);
  }

  function find(key: string): Entry | null {
    const entry = entries.get(key);
    if (!entry) return null;
    // A clock that was set back makes a response of a later day invalid, too.
    if (options.now() >= entry.validUntil || entry.validUntil > endOfDay()) {
      remove(entry);
      return null;
    }
    // The order of a map is the order of use.
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }

  function send(request: Request, h: ResponseToolkit, entry: Entry): ResponseObject | symbol {
    const hadGzip = entry.response.gzip !== null;
    const sent = sendBytes(request, h, entry.response);
    if (!hadGzip && entry.response.gzip && entries.get(entry.key) === entry) resize(entry);
    return sent;
  }

  async function create(request: Request, key: string, tag: string, make: () => Promise<ReadyAnswer | ResponseObject>): Promise<Entry | ResponseObject> {
    const before = touches;
    const made = await make();
    if (!('body' in made)) return made;
    const tags = [...new Set([tag, ...made.tags ?? []])];
    const response = responseBytes({ etag: made.etag, body: made.body, type: made.type, headers: headersOf(request, made) });
    const entry: Entry = { key, tags, validUntil: Math.min(endOfDay(), made.validUntil ?? Infinity), response, size: 0 };
    // The tags are known only now, so any touch while the response was created counts.
    if (before === touches) store(entry);
    return entry;
  }

  return {
    hit(request, h) {
      if (request.auth.isAuthenticated || request.civic.formToken !== null || isUnusual(request)) return h.continue;
      const entry = find(keyOf(request));
      return entry ? send(request, h, entry) : h.continue;
    },
    async answer(request, h, tag, make, address) {
      const key = address ?? keyOf(request);
      const known = address === undefined ? null : find(address);
      if (known) return send(request, h, known);
      const other = pending.get(key);
      const shared = other?.touches === touches ? await other.entry.catch(() => null) : null;
      if (shared && 'key' in shared) return send(request, h, shared);
      const own = { touches, entry: create(request, key, tag, make) };
      pending.set(key, own);
      try {
        const entry = await own.entry;
        return 'key' in entry ? send(request, h, entry) : entry;
      } finally {
        if (pending.get(key) === own) pending.delete(key);
      }
    },
    touch(tags) {
      touches += 1;
      for (const tag of tags) for (const entry of byTag.get(tag) ?? []) remove(entry);
    },
    touchAll() {
      touches += 1;
      entries.clear();
      byTag.clear();
      bytes = 0;
    },
  };
}

/** Returns the same response without caching it: for private responses, and for those that are hardly ever repeated. */
export function textAnswer(request: Request, h: ResponseToolkit, made: Omit<ReadyAnswer, 'tags'>): ResponseObject {
  const wanted = request.headers['if-none-match'] as string | undefined;
  const isFresh = wanted !== undefined && matchesNone(wanted, made.etag);
  const response = isFresh ? h.response().code(304) : h.response(made.body).type(made.type ?? JSON_TYPE);
  Object.assign(response.headers, { etag: made.etag, ...headersOf(request, made) });
  return response;
}

/** A weak ETag of a response body: the same on every node, and after every restart. */
export function textEtag(text: string): string {
  return weakEtag(createHash('sha1').update(text).digest('base64url'));
}

/** A page has one URL in several languages; what programs read is the same in all. */
function keyOf({ civic: { language }, path, raw, server }: Request): string {
  return language === DEFAULT_LANGUAGE || isForPrograms(server, path) ? raw.req.url! : `${language} ${raw.req.url!}`;
}

function headersOf(request: Request, { cacheControl, headers }: Omit<ReadyAnswer, 'tags'>): Record<string, string> {
  return { 'cache-control': cacheControl ?? request.server.app.civic.publicCacheControl, ...headers };
}

function sizeOf({ key, tags, response }: Entry): number {
  return sizeOfBytes(response) + key.length + SLOT_BYTES + tags.reduce((sum, tag) => sum + tag.length + 2 * SLOT_BYTES, 0);
}
