import type { Request } from '@hapi/hapi';
import type { ServerResponse } from 'node:http';
import { problem } from '../problems.ts';
import { preferredLanguage } from '../texts/language.ts';
import { corsHeaders, type Cors } from './cors.ts';
import { pathKindOf, routeTraits, type RequestState, type RouteTraits } from './state.ts';
import { randomHex, readTrace, type Trace } from './trace.ts';
import './codes.ts';

export type HeaderLine = readonly [name: string, value: string];
export type Headers = Record<string, string | string[] | number | undefined>;

const REQUEST_ID = /^[!-~]{1,128}$/;
const HSTS = 'max-age=31536000';
/** Headers with one value for all responses, until a page or a public read sets its own. */
const SECURITY: readonly HeaderLine[] = [
  ['x-content-type-options', 'nosniff'],
  // For responses that are no pages: nothing in them may load, run or be framed.
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  // Forms of our own pages need their origin, so `no-referrer` is too strict.
  ['referrer-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
];

/** Starts what core knows of a request. A malformed request id is refused under a new one. */
export function openState(request: Request): RequestState {
  const { headers } = request;
  const given = headers['x-request-id'] as string | undefined;
  const isGiven = given !== undefined && REQUEST_ID.test(given);
  return {
    requestId: isGiven ? given : randomHex(32),
    trace: readTrace(headers['traceparent'] as string | undefined, headers['tracestate'] as string | undefined),
    started: performance.now(),
    headers: null,
    refusal: given === undefined || isGiven ? null : problem('invalid_header', { detail: 'X-Request-ID must be 1 to 128 visible ASCII characters without spaces.' }),
    upgrade: null,
    clientAddress: null,
    language: preferredLanguage(headers['accept-language'] as string | undefined),
    languagePrefix: '',
    formToken: null,
    isLogged: false,
  };
}

export interface HeaderOptions {
  publicUrl: string;
  corsOrigins: string[];
}

export interface AnswerHeaders {
  /** Writes what does not depend on the answer to the raw response, so that whatever answers in the end has it. */
  begin(res: ServerResponse, state: RequestState): void;
  /** Adds what depends on the answer to its headers; keeps what a handler chose. */
  finish(headers: Headers, request: Request): void;
  /** The same to the raw response itself, for an answer whose own headers, `vary` and `cache-control` among them, are known beforehand. */
  write(request: Request, own: readonly HeaderLine[]): void;
  /** Both, for a handler that writes to the raw response itself. */
  of(request: Request): Record<string, string>;
  /** For an answer to bytes that never became a request. */
  bare(): Record<string, string>;
  cors: Cors;
}

/** The one place that knows which headers every answer carries. */
export function answerHeaders(options: HeaderOptions): AnswerHeaders {
  const cors = corsHeaders(options.corsOrigins);
  const isSecure = options.publicUrl.startsWith('https:');

  function begin(res: ServerResponse, { requestId, trace }: RequestState): void {
    res.setHeader('x-request-id', requestId);
    res.setHeader('traceparent', trace.parent);
    if (trace.state) res.setHeader('tracestate', trace.state);
    for (const [name, value] of SECURITY) res.setHeader(name, value);
    if (isSecure) res.setHeader('strict-transport-security', HSTS);
  }

  function finish(headers: Headers, request: Request): void {
    const state = request.civic;
    const traits = routeTraits(request.route);
    if (isTimed(traits, request)) headers['server-timing'] = `total;dur=${Math.round(performance.now() - state.started)}`;
    // Whoever has a session may not count as known yet, but their pages hold their token.
    headers['cache-control'] ??= request.auth.isAuthenticated || state.formToken !== null ? 'private, no-store' : 'no-cache';
    headers['vary'] = headers['vary'] ? varyOn(String(headers['vary']), traits.isOpen || traits.cors !== null) : 'accept-encoding, origin';
    if (traits.cors) cors.applyDeclared(headers, request, traits.cors);
    else if (traits.isOpen) cors.apply(headers, request);
    if (isOpenRead(traits, request)) headers['cross-origin-resource-policy'] ??= 'cross-origin';
    if (state.headers) Object.assign(headers, state.headers);
  }

  // On the way that is taken most: nothing is collected in between.
  function write(request: Request, own: readonly HeaderLine[]): void {
    const { res } = request.raw;
    const state = request.civic;
    const traits = routeTraits(request.route);
    for (const [name, value] of own) res.setHeader(name, value);
    if (traits.isTimed) res.setHeader('server-timing', `total;dur=${Math.round(performance.now() - state.started)}`);
    if (isOpenRead(traits, request)) res.setHeader('cross-origin-resource-policy', 'cross-origin');
    if (request.headers['origin'] !== undefined && traits.isOpen) {
      const shared: Headers = {};
      cors.apply(shared, request);
      setAll(res, shared);
    }
    if (state.headers) setAll(res, state.headers);
  }

  return {
    begin,
    finish,
    write,
    cors,
    of(request) {
      const { requestId, trace } = request.civic;
      const headers = fixed(requestId, trace, isSecure);
      finish(headers, request);
      return headers;
    },
    bare() {
      const headers = fixed(randomHex(32), readTrace(undefined, undefined), isSecure);
      return { ...headers, 'server-timing': 'total;dur=0', 'cache-control': 'no-store', vary: 'accept-encoding, origin' };
    },
  };
}

function isTimed(traits: RouteTraits, { server, path }: Request): boolean {
  return traits.isTimed && !(traits.isFallback && pathKindOf(server, path)?.untimed);
}

/** A read that every website may fetch, so that it may also embed the response. */
function isOpenRead({ isOpen }: RouteTraits, { method }: Request): boolean {
  return isOpen && (method === 'get' || method === 'head');
}

function setAll(res: ServerResponse, headers: Headers): void {
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name]!);
}

function fixed(requestId: string, trace: Trace, isSecure: boolean): Record<string, string> {
  return {
    'x-request-id': requestId,
    traceparent: trace.parent,
    ...(trace.state && { tracestate: trace.state }),
    ...Object.fromEntries(SECURITY),
    ...(isSecure && { 'strict-transport-security': HSTS }),
  };
}

/**
 * In lower case with `accept-encoding` in front, where hapi looks for it before adding it once more. An open read also varies by
 * `origin`: a cached response to a request without one lacks the headers that a page of another website needs.
 */
function varyOn(list: string, isOpen: boolean): string {
  const names = list.toLowerCase().split(',').map((name) => name.trim()).filter((name) => name !== '');
  return names.includes('*') ? '*' : [...new Set(['accept-encoding', ...names, ...(isOpen ? ['origin'] : [])])].join(', ');
}
