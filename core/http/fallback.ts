import type { Request, Server } from '@hapi/hapi';
import { problem } from '../problems.ts';
import { nothingAt } from './codes.ts';
import type { Cors } from './cors.ts';
import { FALLBACK_PATH, pagePath, pathKindOf, routeTraits } from './state.ts';

/** Adds the routes for requests that match no other: 404, 405 with `Allow`, and OPTIONS. As routes they pass authentication and rate limits. */
export function addFallback(server: Server, cors: Cors): void {
  server.route({
    method: '*',
    path: FALLBACK_PATH,
    options: {
      plugins: { civic: { problems: ['not_found', 'method_not_allowed'] } },
      // The body is ignored: the response is 404 or 405, not 413 or 415.
      payload: { parse: false, output: 'data', failAction: 'ignore', allow: undefined, maxBytes: 1024 },
    },
    handler: (request, h) => {
      const page = pageWithoutSlash(request);
      if (page) return h.redirect(page).permanent().header('cache-control', 'no-cache');
      const allowed = allowedMethods(request);
      if (allowed.length === 0) throw problem('not_found', { detail: nothingAt(request.path) });
      throw problem('method_not_allowed', {
        detail: `${request.method.toUpperCase()} is not possible at ${request.path}.`,
        headers: { allow: allowed.join(', ') },
      });
    },
  });

  server.route({
    method: 'OPTIONS',
    path: FALLBACK_PATH,
    options: { auth: false, plugins: { civic: { rate: 'none', problems: ['not_found'] } }, payload: { parse: false, output: 'data', failAction: 'ignore', allow: undefined, maxBytes: 1024 } },
    handler: (request, h) => {
      const allowed = allowedMethods(request);
      if (allowed.length === 0) throw problem('not_found', { detail: nothingAt(request.path) });
      const response = h.response().code(204).header('allow', allowed.join(', '));
      for (const [name, value] of Object.entries(preflight(request, cors))) response.header(name, value);
      return response;
    },
  });
}

/** Returns the address of the page that a path with a slash at its end means, if there is one. Paths of programs are exact. */
function pageWithoutSlash(request: Request): string | null {
  const { method, path, server, url } = request;
  const page = path.slice(0, -1);
  if ((method !== 'get' && method as string !== 'head') || !path.endsWith('/') || pathKindOf(server, path)?.audience !== 'people' || !isRoute(server, 'get', page)) return null;
  return pagePath(request, page + url.search);
}

/** Matches the path with each method: hapi does not report the methods of a path. */
function allowedMethods(request: Request): string[] {
  const { server } = request;
  const methods = new Set(server.table().map((route) => route.method).filter((method) => method !== '*' && method !== 'options'));
  const allowed = [...methods].filter((method) => isRoute(server, method, request.path)).map((method) => method.toUpperCase());
  if (allowed.includes('GET')) allowed.push('HEAD');
  return allowed.length === 0 ? [] : [...allowed, 'OPTIONS'].sort();
}

function isRoute(server: Server, method: string, path: string): boolean {
  const route = server.match(method as 'get', path);
  return route !== null && route.path !== FALLBACK_PATH;
}

/** Returns the CORS headers of a preflight request; none when the route is not open to scripts of other websites. */
function preflight(request: Request, cors: Cors): Record<string, string> {
  const method = String(request.headers['access-control-request-method'] ?? '').toLowerCase();
  if (method === '') return {};
  const route = request.server.match((method === 'head' ? 'get' : method) as 'get', request.path);
  if (route === null || route.path === FALLBACK_PATH) return {};
  const { cors: declared, isOpen } = routeTraits(route);
  if (declared) return cors.preflight(request, method.toUpperCase(), declared);
  return isOpen && (method === 'get' || method === 'head') ? cors.preflight(request, 'GET, HEAD') : {};
}
