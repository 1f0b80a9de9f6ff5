import type { Request } from '@hapi/hapi';
import type { CorsDeclaration } from '../plugin.ts';
import type { Headers } from './headers.ts';

const EXPOSED = 'Content-Location, ETag, Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-ID';

// Keys do not belong in browsers, so X-API-Key is not among these.
const ALLOWED = 'Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, Prefer, Traceparent, Tracestate, X-Request-ID';

export interface Cors {
  /** Adds the headers to the response of a public read. */
  apply(headers: Headers, request: Request): void;
  /** Adds the headers to the response of a route that declares `cors`, for any method. */
  applyDeclared(headers: Headers, request: Request, declared: CorsDeclaration): void;
  /** Returns the headers of the response to a preflight request; none when the origin is not allowed. */
  preflight(request: Request, methods: string, declared?: CorsDeclaration): Record<string, string>;
}

/** `*` among the origins allows every website. Requests with cookies are never allowed. */
export function corsHeaders(origins: string[]): Cors {
  const allowed = new Set(origins);
  const isAnyAllowed = allowed.has('*');

  function allowedOrigin({ headers }: Request, further: string[] = []): string | null {
    const origin = headers['origin'] as string | undefined;
    if (origin === undefined) return null;
    if (isAnyAllowed || further.includes('*')) return '*';
    return allowed.has(origin) || further.includes(origin) ? origin : null;
  }

  return {
    apply(headers, request) {
      if (request.method !== 'get' && request.method !== 'head') return;
      const origin = allowedOrigin(request);
      if (origin === null) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = EXPOSED;
    },
    applyDeclared(headers, request, { expose = [], origins }) {
      const origin = allowedOrigin(request, origins);
      if (origin === null) return;
      headers['access-control-allow-origin'] = origin;
      headers['access-control-expose-headers'] = [EXPOSED, 'WWW-Authenticate', ...expose].join(', ');
      headers['cross-origin-resource-policy'] ??= 'cross-origin';
    },
    preflight(request, methods, { headers = [], origins } = {}): Record<string, string> {
      const origin = allowedOrigin(request, origins);
      if (origin === null) return {};
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': [ALLOWED, ...headers].join(', '),
        'access-control-max-age': '86400',
      };
    },
  };
}
