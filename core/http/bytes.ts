import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { gzipSync } from 'node:zlib';
import { matchesNone } from './conditional.ts';
import type { HeaderLine } from './headers.ts';

/** A 200 response that many requests share: its body as bytes, plain and compressed, and its headers. */
export interface ResponseBytes {
  etag: string;
  type: string;
  plain: Buffer;
  /** Null until the first client accepts gzip. */
  gzip: Buffer | null;
  /** Headers of the 200 and of the 304. */
  headers: HeaderLine[];
  /** Headers of the 200 with the plain and with the compressed body; each is null until first sent. */
  plainHeaders: HeaderLine[] | null;
  gzipHeaders: HeaderLine[] | null;
}

const SMALLEST_GZIP = 1024;
/** As core sets it on every response. */
const VARY = 'accept-encoding, origin';
export const JSON_TYPE = 'application/json; charset=utf-8';

export function responseBytes({ etag, body, type = JSON_TYPE, headers }: { etag: string; body: string | Buffer; type?: string; headers: Record<string, string> }): ResponseBytes {
  const { vary, ...own } = headers;
  const lines: HeaderLine[] = [...Object.entries({ etag, ...own }), ['vary', vary === undefined ? VARY : `${VARY}, ${vary}`]];
  return { etag, type, plain: typeof body === 'string' ? Buffer.from(body) : body, gzip: null, headers: lines, plainHeaders: null, gzipHeaders: null };
}

/** The memory that a response takes, roughly: bodies, header lines, and the objects that hold them. */
export function sizeOfBytes({ plain, gzip, headers }: ResponseBytes): number {
  const lines = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 64, 0);
  return plain.length + (gzip?.length ?? 0) + lines + 512;
}

/** Sends the response, or a 304 when the client has it. Writes to the raw response, because a hapi response takes as long as the rest of the request. */
export function sendBytes(request: Request, h: ResponseToolkit, bytes: ResponseBytes): ResponseObject | symbol {
  if (isUnusual(request)) return hapiResponse(request, h, bytes);
  const { res } = request.raw;
  const { answerHeaders } = request.server.app.civic;
  if (isUnmodified(request, bytes)) {
    answerHeaders.write(request, bytes.headers);
    res.statusCode = 304;
    res.end();
    return h.abandon;
  }
  const body = bodyFor(request, bytes);
  answerHeaders.write(request, body === bytes.gzip ? bytes.gzipHeaders ??= bodyHeaders(bytes, body, 'gzip') : bytes.plainHeaders ??= bodyHeaders(bytes, body));
  res.end(request.method === 'head' ? undefined : body);
  return h.abandon;
}

/** Whether a request has a body that its route does not read, or is an upgrade: these are left to hapi. */
export function isUnusual({ civic, headers }: Request): boolean {
  return civic.upgrade !== null || headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function hapiResponse(request: Request, h: ResponseToolkit, bytes: ResponseBytes): ResponseObject {
  const isSame = isUnmodified(request, bytes);
  const body = isSame ? null : bodyFor(request, bytes);
  const response = body ? h.response(body).type(bytes.type) : h.response().code(304);
  if (body && body === bytes.gzip) response.header('content-encoding', 'gzip');
  for (const [name, value] of bytes.headers) response.header(name, value);
  return response;
}

function isUnmodified(request: Request, { etag }: ResponseBytes): boolean {
  return matchesNone(request.headers['if-none-match'] as string | undefined, etag);
}

function bodyFor(request: Request, bytes: ResponseBytes): Buffer {
  return bytes.plain.length >= SMALLEST_GZIP && acceptsGzip(request) ? bytes.gzip ??= gzipSync(bytes.plain) : bytes.plain;
}

function bodyHeaders({ headers, type }: ResponseBytes, body: Buffer, encoding?: string): HeaderLine[] {
  return [...headers, ['content-type', type], ['content-length', String(body.length)], ...(encoding ? [['content-encoding', encoding] as const] : [])];
}

/** `gzip` in the list, and not with a weight of zero. All other clients get the plain bytes. */
function acceptsGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'] as string | undefined;
  return accepted !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$|\s))/i.test(accepted);
}
