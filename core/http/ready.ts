import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { matchesNone, weakEtag } from './conditional.ts';

/** An answer that is kept as bytes until what it tells of changes. */
export interface ReadyAnswer {
  etag: string;
  /** JSON, or what `type` says. */
  body: string;
  type?: string;
  headers?: Record<string, string>;
  cacheControl?: string;
  /** Further things it tells of, found while it was made. */
  tags?: string[];
}

export interface ReadyAnswers {
  /** For a route's `ext.onPostAuth`: answers from memory, before the query is even read. */
  hit: Lifecycle.Method;
  /** For its handler: makes the answer and keeps it until one of its tags is touched, also while it was being made. */
  answer(request: Request, h: ResponseToolkit, tag: string, make: () => Promise<ReadyAnswer>): Promise<ResponseObject>;
  /** What was kept under these tags is no longer true. */
  touch(tags: Iterable<string>): void;
  touchAll(): void;
}

interface Kept {
  tags: string[];
  /** Of all its tags together: each only grows. */
  generation: number;
  day: number;
  etag: string;
  plain: Buffer;
  /** Made for the first client that takes it. */
  gzip: Buffer | null;
  headers: [string, string][];
  type: string;
}

const DAY_MS = 86_400_000;
const SMALLEST_GZIP = 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Keeps answers that everybody gets alike, up to so many bytes; the least used go first. Each ends with its UTC day, too. */
export function readyAnswers(options: { maxBytes: number; now(): number }): ReadyAnswers {
  const kept = new Map<string, Kept>();
  const generations = new Map<string, number>();
  let bytes = 0;
  let everything = 0;
  let touches = 0;

  const today = () => Math.floor(options.now() / DAY_MS);
  // Touching everything adds a number that no count of tags reaches.
  function generationOf(tags: string[]): number {
    let sum = everything;
    for (const tag of tags) sum += generations.get(tag) ?? 0;
    return sum;
  }

  function drop(url: string, entry: Kept): void {
    kept.delete(url);
    bytes -= sizeOf(entry);
  }

  function keep(url: string, entry: Kept): void {
    const old = kept.get(url);
    if (old) drop(url, old);
    const size = sizeOf(entry);
    if (size > options.maxBytes / 8) return;
    kept.set(url, entry);
    bytes += size;
    for (const [oldest, other] of kept) {
      if (bytes <= options.maxBytes) break;
      drop(oldest, other);
    }
  }

  function found(request: Request): Kept | null {
    const url = request.raw.req.url!;
    const entry = kept.get(url);
    if (!entry) return null;
    if (entry.generation !== generationOf(entry.tags) || entry.day !== today()) {
      drop(url, entry);
      return null;
    }
    // The order of a map is the order of use.
    kept.delete(url);
    kept.set(url, entry);
    return entry;
  }

  function gzipOf(entry: Kept): Buffer {
    if (!entry.gzip) {
      entry.gzip = gzipSync(entry.plain);
      bytes += entry.gzip.length;
    }
    return entry.gzip;
  }

  function respond(request: Request, h: ResponseToolkit, entry: Kept): ResponseObject {
    const wanted = request.headers['if-none-match'] as string | undefined;
    const isFresh = wanted !== undefined && matchesNone(wanted, entry.etag);
    const isZipped = !isFresh && entry.plain.length >= SMALLEST_GZIP && takesGzip(request);
    const response = isFresh ? h.response().code(304) : h.response(isZipped ? gzipOf(entry) : entry.plain).type(entry.type);
    if (isZipped) response.header('content-encoding', 'gzip');
    for (const [name, value] of entry.headers) response.header(name, value);
    return response;
  }

  return {
    hit(request, h) {
      if (request.auth.isAuthenticated) return h.continue;
      const entry = found(request);
      return entry ? respond(request, h, entry).takeover() : h.continue;
    },
    async answer(request, h, tag, make) {
      const before = touches;
      const made = await make();
      const tags = [tag, ...made.tags ?? []];
      const entry: Kept = {
        tags, generation: generationOf(tags), day: today(), etag: made.etag, plain: Buffer.from(made.body), gzip: null, headers: headersOf(request, made), type: made.type ?? JSON_TYPE,
      };
      // Which tags it has is known only now, so any touch while it was made counts.
      if (before === touches) keep(request.raw.req.url!, entry);
      return respond(request, h, entry);
    },
    touch(tags) {
      touches += 1;
      for (const tag of tags) generations.set(tag, (generations.get(tag) ?? 0) + 1);
      // A tag nobody asked for costs nothing for long.
      if (generations.size > 100_000) this.touchAll();
    },
    touchAll() {
      touches += 1;
      everything += 2 ** 32;
      generations.clear();
      kept.clear();
      bytes = 0;
    },
  };
}

/** The same answer without keeping it: for what hardly anybody asks twice, or only its owner may see. */
export function textAnswer(request: Request, h: ResponseToolkit, made: Omit<ReadyAnswer, 'tags'>): ResponseObject {
  const wanted = request.headers['if-none-match'] as string | undefined;
  const isFresh = wanted !== undefined && matchesNone(wanted, made.etag);
  const response = isFresh ? h.response().code(304) : h.response(made.body).type(made.type ?? JSON_TYPE);
  for (const [name, value] of headersOf(request, made)) response.header(name, value);
  return response;
}

/** A weak ETag of what is answered: the same on every node, and after every restart. */
export function textEtag(text: string): string {
  return weakEtag(createHash('sha1').update(text).digest('base64url'));
}

function headersOf(request: Request, { etag, cacheControl, headers }: Omit<ReadyAnswer, 'tags'>): [string, string][] {
  return [['etag', etag], ['cache-control', cacheControl ?? request.server.app.civic.publicCacheControl], ...Object.entries(headers ?? {})];
}

function sizeOf(entry: Kept): number {
  return entry.plain.length + (entry.gzip?.length ?? 0) + 512;
}

/** `gzip` in the list, and not with a weight of nothing. Everybody else gets the plain bytes. */
function takesGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'] as string | undefined;
  return accepted !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$|\s))/i.test(accepted);
}
