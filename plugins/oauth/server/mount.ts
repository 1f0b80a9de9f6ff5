import type { Lifecycle, Request, ResponseObject, ResponseToolkit, RouteOptions, ServerRoute } from '@hapi/hapi';
import { clientAddressOf, problem, type RouteDeclaration } from 'civic';
import { once } from 'node:events';
import { countRegistered } from '../store/clients.ts';
import { oauthErrors } from './errors.ts';
import type { AuthorizationServer, HandledRequest, Refusal, ServerContext } from './server.ts';

const MOST_BYTES = 64 * 1024;
const HOUR_MS = 3_600_000;

const declaration = (more: RouteDeclaration = {}): { civic: RouteDeclaration } => ({ civic: { internal: true, untimed: true, raw: true, ownCredentials: true, errors: oauthErrors, ...more } });
/** Browser-based clients call these; no cookie has a meaning here. */
const CORS: RouteDeclaration = { cors: { headers: ['MCP-Protocol-Version'] } };

/** The routes that the library serves itself, with what hapi would otherwise do to the request switched off. */
export function serverRoutes(context: ServerContext, server: AuthorizationServer): ServerRoute[] {
  const get: RouteOptions = { plugins: declaration(), timeout: { server: false } };
  const post = (type: string, more: RouteDeclaration = {}): RouteOptions => ({ plugins: declaration({ ...CORS, ...more }), timeout: { server: false }, payload: { parse: false, output: 'stream', maxBytes: MOST_BYTES, allow: [type] } });
  const forPrograms: Lifecycle.Method = (request, h) => handle(context, server, request, h);
  const forPeople: Lifecycle.Method = (request, h) => handle(context, server, request, h, { isPage: true });
  const { registration } = context.civic.config;
  return [
    { method: 'GET', path: '/oauth/authorize', options: get, handler: forPeople },
    { method: 'GET', path: '/oauth/authorize/{uid}', options: get, handler: forPeople },
    ...['token', 'revoke', 'introspect', 'device'].map((name): ServerRoute => ({ method: 'POST', path: `/oauth/${name}`, options: post('application/x-www-form-urlencoded'), handler: forPrograms })),
    ...(registration.enabled ? [
      { method: 'POST', path: '/oauth/register', options: post('application/json', { rate: 'oauth_registration' }), handler: async (request, h) => { await rejectFlood(context.civic); return handle(context, server, request, h); } },
      { method: 'GET', path: '/oauth/register/{client_id}', options: { ...get, plugins: declaration(CORS) }, handler: forPrograms },
    ] as ServerRoute[] : []),
  ];
}

/** Lets the library respond. Its own address comes from the configuration, never from the request. */
async function handle({ civic }: ServerContext, server: AuthorizationServer, request: Request, h: ResponseToolkit, { isPage = false } = {}): Promise<symbol | ResponseObject> {
  const { req, res } = request.raw;
  const base = new URL(civic.instance.public_url);
  const address = clientAddressOf(request);
  const url = request.path + request.url.search;
  Object.assign(req, { url, originalUrl: base.pathname.replace(/\/$/, '') + url });
  Object.assign(req.headers, { host: base.host, 'x-forwarded-proto': base.protocol.slice(0, -1), 'x-forwarded-for': address });
  delete req.headers['x-forwarded-host'];
  // Core has decided about origins.
  delete req.headers['origin'];
  if (!isPage) req.headers['accept'] = 'application/json';
  for (const [name, value] of Object.entries(civic.headers(request))) res.setHeader(name, value);
  const handled: HandledRequest = { request, isPage, refusal: null };
  server.requests.set(req, handled);
  const provider = await server.provider();
  // `close` also comes when the client goes away.
  const closed = once(res, 'close');
  await provider.callback()(req, res);
  if (handled.refusal) return refusalPage(h, handled.refusal);
  await closed;
  return h.abandon;
}

const EXPLANATIONS: Record<string, string> = {
  invalid_client: 'The app is not known here. It may have been removed, or its description cannot be read. Remove the connection in the app and connect again.',
  invalid_redirect_uri: 'The app asked to send you to an address that it did not register. Do not continue: an attacker may want access to your account.',
  invalid_client_metadata: 'The description that the app publishes about itself is not valid.',
  invalid_request: 'The app sent a request that is not complete, or this page is too old. Return to the app and connect again.',
};

export function refusalPage(h: ResponseToolkit, { error, error_description: description, status }: Refusal): ResponseObject {
  return h.view('oauth/refused', { title: 'This app cannot be connected', explanation: EXPLANATIONS[error] ?? EXPLANATIONS['invalid_request'], error, description })
    .code(status >= 400 ? status : 400).header('cache-control', 'no-store');
}

/** Rejects a registration when all addresses together have registered too many apps in the last hour. */
async function rejectFlood({ clock, config, db }: ServerContext['civic']): Promise<void> {
  const most = config.registration.clients_per_hour;
  const since = new Date(clock.now() - HOUR_MS).toISOString();
  if (await countRegistered(db.read, since) >= most) throw problem('too_many_requests', { detail: `${most} apps have registered in the last hour, which is the limit. Try again later.`, headers: { 'retry-after': '600' } });
}
