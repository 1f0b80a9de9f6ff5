import type { Request } from '@hapi/hapi';
import type { CorsDeclaration } from '../plugin.ts';
import type { Headers } from './headers.ts';

const EXPOSED = 'Content-Location, ETag, Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-ID';

// Keys do not belong in browsers, so X-API-Key is not among these.
const ALLOWED = 'Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, Prefer, Traceparent, Tracestate, X-Request-ID';

export interface Cors {
  /** On the answer to a read that is open to every website. */
  apply(headers: Headers, request: Request): void;
  /** On the response of a route that declares `cors`, whatever its method. */
  applyDeclared(headers: Headers, request: Request, declared: CorsDeclaration): void;
  /** The answer to a browser that asks before it reads; nothing when its origin is not welcome. */
  preflight(request: Request): Record<string, string>;
  /** The response to a preflight request for a route that declares `cors`. */
  preflightDeclared(request: Request, method: string, declared: CorsDeclaration): Record<string, string>;
}

/** `*` among the origins welcomes every website. Cookies are never allowed along. */
export function corsHeaders(origins: string[]): Cors {
  const welcome = new Set(origins);
  const isAny = welcome.has('*');

  function allowedOrigin(request: Request): string | null {
    if (isAny) return '*';
    const origin = request.headers['origin'] as string | undefined;
    return origin !== undefined && welcome.has(origin) ? origin : null;
  }

  return {
    apply(headers, request) {
      if (request.headers['origin'] === undefined || (request.method !== 'get' && request.method !== 'head')) return;
      const origin = allowedOrigin(request);
      if (origin === null) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = EXPOSED;
    },
    applyDeclared(headers, request, { expose = [] }) {
      if (request.headers['origin'] === undefined) return;
      const origin = allowedOrigin(request);
      if (origin === null) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = [EXPOSED, 'WWW-Authenticate', ...expose].join(', ');
      headers['cross-origin-resource-policy'] ??= 'cross-origin';
    },
    preflightDeclared(request, method, { headers = [] }): Record<string, string> {
      const origin = allowedOrigin(request);
      if (origin === null) return {};
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': method,
        'access-control-allow-headers': [ALLOWED, ...headers].join(', '),
        'access-control-max-age': '86400',
      };
    },
    preflight(request): Record<string, string> {
      const origin = allowedOrigin(request);
      if (origin === null) return {};
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': ALLOWED,
        'access-control-max-age': '86400',
      };
    },
  };
}
