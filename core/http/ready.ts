import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { matchesNone, weakEtag } from './conditional.ts';
import type { HeaderLine } from './headers.ts';

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
  answer(request: Request, h: ResponseToolkit, tag: string, make: () => Promise<ReadyAnswer>): Promise<ResponseObject | symbol>;
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
  /** Those of every answer, also of a 304. */
  headers: HeaderLine[];
  /** With those of its body, worked out when it is first sent from memory. */
  plainHeaders: HeaderLine[] | null;
  zippedHeaders: HeaderLine[] | null;
  type: string;
}

const DAY_MS = 86_400_000;
const SMALLEST_GZIP = 1024;
/** As core says it of every answer. */
const VARY = 'accept-encoding, origin';
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

  function gzipOf(url: string, entry: Kept): Buffer {
    if (!entry.gzip) {
      entry.gzip = gzipSync(entry.plain);
      // One that was not kept takes no room.
      if (kept.get(url) === entry) bytes += entry.gzip.length;
    }
    return entry.gzip;
  }

  const isHad = (request: Request, entry: Kept): boolean => {
    const wanted = request.headers['if-none-match'] as string | undefined;
    return wanted !== undefined && matchesNone(wanted, entry.etag);
  };
  const isZippedFor = (request: Request, entry: Kept): boolean => entry.plain.length >= SMALLEST_GZIP && takesGzip(request);

  function respond(request: Request, h: ResponseToolkit, entry: Kept): ResponseObject {
    const isZipped = !isHad(request, entry) && isZippedFor(request, entry);
    const response = isHad(request, entry) ? h.response().code(304) : h.response(isZipped ? gzipOf(request.raw.req.url!, entry) : entry.plain).type(entry.type);
    if (isZipped) response.header('content-encoding', 'gzip');
    for (const [name, value] of entry.headers) response.header(name, value);
    return response;
  }

  /** Past hapi's own way of sending, which costs as much as all that comes before it. */
  function send(request: Request, h: ResponseToolkit, entry: Kept): symbol {
    const { res, req } = request.raw;
    const { answerHeaders } = request.server.app.civic;
    if (isHad(request, entry)) {
      answerHeaders.write(request, entry.headers);
      res.statusCode = 304;
      res.end();
      return h.abandon;
    }
    const isZipped = isZippedFor(request, entry);
    const body = isZipped ? gzipOf(req.url!, entry) : entry.plain;
    answerHeaders.write(request, isZipped ? entry.zippedHeaders ??= bodyHeaders(entry, body, 'gzip') : entry.plainHeaders ??= bodyHeaders(entry, body));
    res.end(request.method === 'head' ? undefined : body);
    return h.abandon;
  }

  return {
    hit(request, h) {
      if (request.auth.isAuthenticated || isUnusual(request)) return h.continue;
      const entry = found(request);
      return entry ? send(request, h, entry) : h.continue;
    },
    async answer(request, h, tag, make) {
      const before = touches;
      const made = await make();
      const tags = [tag, ...made.tags ?? []];
      const entry: Kept = {
        tags, generation: generationOf(tags), day: today(), etag: made.etag, plain: Buffer.from(made.body), gzip: null,
        headers: [...Object.entries(headersOf(request, made)), ['vary', VARY]], plainHeaders: null, zippedHeaders: null, type: made.type ?? JSON_TYPE,
      };
      // Which tags it has is known only now, so any touch while it was made counts.
      if (before === touches) keep(request.raw.req.url!, entry);
      return isUnusual(request) ? respond(request, h, entry) : send(request, h, entry);
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
  Object.assign(response.headers, headersOf(request, made));
  return response;
}

/** A weak ETag of what is answered: the same on every node, and after every restart. */
export function textEtag(text: string): string {
  return weakEtag(createHash('sha1').update(text).digest('base64url'));
}

function headersOf(request: Request, { etag, cacheControl, headers }: Omit<ReadyAnswer, 'tags'>): Record<string, string> {
  return { etag, 'cache-control': cacheControl ?? request.server.app.civic.publicCacheControl, ...headers };
}

/** It brings a body nobody asked for, or wants to leave HTTP: hapi knows what to do. */
function isUnusual({ civic, headers }: Request): boolean {
  return civic.upgrade !== null || headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function bodyHeaders({ headers, type }: Kept, body: Buffer, encoding?: string): HeaderLine[] {
  return [...headers, ['content-type', type], ['content-length', String(body.length)], ...(encoding ? [['content-encoding', encoding] as const] : [])];
}

function sizeOf(entry: Kept): number {
  return entry.plain.length + (entry.gzip?.length ?? 0) + 512;
}

/** `gzip` in the list, and not with a weight of nothing. Everybody else gets the plain bytes. */
function takesGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'] as string | undefined;
  return accepted !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$|\s))/i.test(accepted);
}
