import type { Request } from '@hapi/hapi';
import { problem } from '../problems.ts';
import { corsHeaders, type Cors } from './cors.ts';
import { routeTraits, type RequestState } from './state.ts';
import { randomHex, readTrace } from './trace.ts';
import './codes.ts';

export type Headers = Record<string, string | string[] | number | undefined>;

const REQUEST_ID = /^[!-~]{1,128}$/;

/** Starts what core knows of a request. A malformed request id is refused by the caller, under a new one. */
export function openState(request: Request): RequestState {
  const { headers } = request;
  const given = headers['x-request-id'] as string | undefined;
  const isGiven = given !== undefined && REQUEST_ID.test(given);
  const state: RequestState = {
    requestId: isGiven ? given : randomHex(32),
    trace: readTrace(headers['traceparent'] as string | undefined, headers['tracestate'] as string | undefined),
    started: performance.now(),
    headers: null,
    refusal: given === undefined || isGiven ? null : problem('invalid_header', { detail: 'X-Request-ID must be 1 to 128 visible ASCII characters without spaces.' }),
    upgrade: null,
    clientAddress: null,
    isLogged: false,
  };
  request.plugins.civic = state;
  return state;
}

export interface HeaderOptions {
  publicUrl: string;
  corsOrigins: string[];
}

export interface AnswerHeaders {
  /** Adds to an answer's headers those that every answer carries; keeps what a handler chose where it may choose. */
  apply(headers: Headers, request: Request): void;
  /** The same for a handler that writes to the raw response itself. */
  of(request: Request): Record<string, string>;
  /** For an answer to bytes that never became a request. */
  bare(): Record<string, string>;
  cors: Cors;
}

/** The one place that knows which headers every answer carries. */
export function answerHeaders(options: HeaderOptions): AnswerHeaders {
  const cors = corsHeaders(options.corsOrigins);
  const isSecure = options.publicUrl.startsWith('https:');

  function secure(headers: Headers): void {
    headers['x-content-type-options'] = 'nosniff';
    headers['referrer-policy'] ??= 'no-referrer';
    headers['content-security-policy'] ??= "default-src 'none'; frame-ancestors 'none'";
    if (isSecure) headers['strict-transport-security'] = 'max-age=31536000';
  }

  function apply(headers: Headers, request: Request): void {
    const state = request.plugins.civic;
    const traits = routeTraits(request.route);
    headers['x-request-id'] = state.requestId;
    headers['traceparent'] = state.trace.parent;
    if (state.trace.state) headers['tracestate'] = state.trace.state;
    if (traits.isTimed) headers['server-timing'] = `total;dur=${Math.round(performance.now() - state.started)}`;
    secure(headers);
    headers['cache-control'] ??= request.auth.isAuthenticated ? 'private, no-store' : 'no-cache';
    headers['vary'] = headers['vary'] ? varyOn(String(headers['vary'])) : 'accept-encoding, origin';
    if (traits.isOpen) cors.apply(headers, request);
    if (state.headers) Object.assign(headers, state.headers);
  }

  return {
    apply,
    cors,
    of(request) {
      const headers: Record<string, string> = {};
      apply(headers, request);
      return headers;
    },
    bare() {
      const headers: Record<string, string> = { 'x-request-id': randomHex(32), traceparent: readTrace(undefined, undefined).parent, 'cache-control': 'no-store', vary: 'accept-encoding, origin' };
      secure(headers);
      return headers;
    },
  };
}

/** In lower case with `accept-encoding` in front, where hapi looks for it before adding it once more. */
function varyOn(list: string): string {
  const names = list.toLowerCase().split(',').map((name) => name.trim()).filter((name) => name !== '');
  return names.includes('*') ? '*' : [...new Set(['accept-encoding', ...names])].join(', ');
}
