import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { problem } from '../problems.ts';

const OPAQUE = /^[\x21\x23-\x7e]+$/;
const TAGS = /(?:W\/)?"[^"]*"/g;
// hapi and proxies mark a compressed response by a suffix inside the tag.
const ENCODINGS = new Set(['gzip', 'br', 'deflate', 'zstd', 'df']);

/** A weak ETag of a version of the data; further parts tell representations of one version apart. */
export function weakEtag(...parts: (string | number)[]): string {
  const opaque = parts.join('-');
  if (!OPAQUE.test(opaque)) throw new Error(`"${opaque}" cannot be an ETag`);
  return `W/"${opaque}"`;
}

/** What is known of an answer before it is made. */
export interface Representation {
  etag: string;
  /** Without it, everybody gets the answer alike and caches ask again each time, or after `http.cache_max_age`. */
  cacheControl?: string;
  /** The canonical path of this answer, with its query. */
  contentLocation?: string;
  vary?: string;
}

/** Answers 304 when the caller has this version already; otherwise makes the answer. Both carry the same headers. */
export async function conditional(request: Request, h: ResponseToolkit, known: Representation, make: () => unknown): Promise<ResponseObject> {
  const isFresh = matchesNone(request.headers['if-none-match'] as string | undefined, known.etag);
  const response = isFresh ? h.response().code(304) : h.response((await make()) as object);
  const { publicUrl, publicCacheControl } = request.server.app.civic;
  response.header('etag', known.etag);
  response.header('cache-control', known.cacheControl ?? publicCacheControl);
  if (known.contentLocation) response.header('content-location', publicUrl + known.contentLocation);
  if (known.vary) response.header('vary', known.vary);
  return response;
}

/** Whether an If-None-Match header, a list or `*`, names this ETag. Weak comparison, as RFC 9110 asks for. */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const wanted = opaqueOf(etag);
  return (header.match(TAGS) ?? []).some((tag) => opaqueOf(tag) === wanted);
}

/** Refuses with 412 a change that was made on another version than this one. Without an If-Match header nothing is checked. */
export function checkIfMatch(request: Request, etag: string): void {
  const header = request.headers['if-match'] as string | undefined;
  if (header === undefined || matchesNone(header, etag)) return;
  throw problem('precondition_failed', { detail: `If-Match names another version; the present one is ${etag}.`, headers: { etag } });
}

function opaqueOf(tag: string): string {
  const start = tag.indexOf('"') + 1;
  let end = tag.length - 1;
  // From the end and not by a regular expression, which would try every hyphen of a long tag.
  for (let dash = tag.lastIndexOf('-'); dash >= start && ENCODINGS.has(tag.slice(dash + 1, end)); dash = tag.lastIndexOf('-', dash - 1)) end = dash;
  return tag.slice(start, end);
}
