import type { Lifecycle, Request, ResponseObject, ResponseToolkit, RouteOptions, ServerRoute } from '@hapi/hapi';
import { basePathOf, clientAddressOf, exceededHeaders, latestEnd, problem, type RouteDeclaration } from 'civic';
import { once } from 'node:events';
import { countRegistered } from '../store/clients.ts';
import { CONTRACTS } from './contract.ts';
import { oauthErrors } from './errors.ts';
import { refusalPage } from './refusal.ts';
import type { AuthorizationServer, HandledRequest, ServerContext } from './server.ts';

/** What an anonymous client sends is stored until it expires: enough for long states and key sets. */
const MOST_BYTES = 16 * 1024;
const MOST_QUERY = 8 * 1024;
const STARTING = 'oauth_start';
const HOUR_MS = 3_600_000;
const FORM = 'application/x-www-form-urlencoded';

/** For browser-based clients. These routes ignore cookies, so every website may call them. */
const CORS: RouteDeclaration = { cors: { headers: ['MCP-Protocol-Version'] } };

/** Returns the options of a route whose request the library reads and whose response it writes. */
function rawOptions(more: RouteDeclaration = {}): RouteOptions {
  return {
    plugins: { civic: { internal: true, untimed: true, raw: true, ownCredentials: true, errors: oauthErrors, ...more } },
    timeout: { server: false },
  };
}

/** For the user's browser. Core identifies the session, so that the header of an error page shows the signed-in user. */
const PAGE_OPTIONS = rawOptions({ ownCredentials: false });

function postOptions(type: string, more: RouteDeclaration = {}): RouteOptions {
  return { ...rawOptions({ ...CORS, ...more }), payload: { parse: false, output: 'stream', maxBytes: MOST_BYTES, allow: [type] } };
}

/** Adds the contract of an endpoint to the options of its route. */
function described(path: keyof typeof CONTRACTS, options: RouteOptions): RouteOptions {
  const { protocol, ...documentation } = CONTRACTS[path];
  return { ...options, ...documentation, plugins: { ...options.plugins, civic: { ...options.plugins?.civic, protocol } } };
}

/** Returns the routes that the library serves itself. */
export function serverRoutes(context: ServerContext, server: AuthorizationServer): ServerRoute[] {
  const handlePrograms: Lifecycle.Method = (request, h) => handle(context, server, request, h);
  const authorize: Lifecycle.Method = (request, h) => {
    rejectHead(request);
    if (request.url.search.length > MOST_QUERY) throw problem('invalid_request', { detail: `The query of an authorization request can have up to ${MOST_QUERY} characters.` });
    return handle(context, server, request, h, { isPage: true });
  };
  const resume: Lifecycle.Method = async (request, h) => {
    rejectHead(request);
    await rejectStranger(context, server, request);
    return handle(context, server, request, h, { isPage: true });
  };
  const register: Lifecycle.Method = async (request, h) => {
    await rejectFlood(context.civic);
    return handle(context, server, request, h);
  };
  const registrationRoutes: ServerRoute[] = [
    { method: 'POST', path: '/oauth/register', options: described('/oauth/register', postOptions('application/json', { rate: 'oauth_registration' })), handler: register },
    { method: 'GET', path: '/oauth/register/{client_id}', options: described('/oauth/register/{client_id}', rawOptions(CORS)), handler: handlePrograms },
    // Without these a registration access token would be an unknown credential, as if the registration were lost.
    { method: ['PUT', 'DELETE'], path: '/oauth/register/{client_id}', options: rawOptions(CORS), handler: () => { throw problem('method_not_allowed', { headers: { allow: 'GET, HEAD' } }); } },
  ];
  return [
    { method: 'GET', path: '/oauth/authorize', options: described('/oauth/authorize', rawOptions({ ownCredentials: false, rate: STARTING, masked: ['state', 'login_hint', 'id_token_hint'] })), handler: authorize },
    { method: 'GET', path: '/oauth/authorize/{uid}', options: PAGE_OPTIONS, handler: resume },
    ...(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/device'] as const).map((path): ServerRoute => {
      return { method: 'POST', path, options: described(path, postOptions(FORM, path === '/oauth/device' ? { rate: STARTING } : {})), handler: handlePrograms };
    }),
    ...(context.civic.config.registration.enabled ? registrationRoutes : []),
  ];
}

/** Rejects HEAD where GET stores a request or issues a code. */
function rejectHead({ method }: Request): void {
  if (method === 'head') throw problem('method_not_allowed', { detail: 'HEAD is not possible for an authorization request.', headers: { allow: 'GET, OPTIONS' } });
}

/** Passes a request to the library, which writes the response. An error page is rendered here. */
async function handle({ civic }: ServerContext, server: AuthorizationServer, request: Request, h: ResponseToolkit, { isPage = false } = {}): Promise<symbol | ResponseObject> {
  const { req, res } = request.raw;
  // Before `replaceAddress`, which removes the origin that the CORS headers depend on.
  for (const [name, value] of Object.entries(civic.headers(request))) res.setHeader(name, value);
  replaceAddress(request, civic.instance.public_url);
  if (!isPage) req.headers['accept'] = 'application/json';
  const handled: HandledRequest = { request, isPage, refusal: null, failure: null, unavailable: null };
  server.requests.set(req, handled);
  const provider = await server.provider();
  // `close` is also emitted when the client disconnects before the response.
  const closed = once(res, 'close');
  await provider.callback()(req, res);
  if (handled.unavailable) throw handled.unavailable;
  if (handled.failure) civic.log.error({ err: handled.failure }, 'A refused request of OAuth could not be recorded');
  if (handled.refusal && handled.failure) throw handled.failure;
  if (handled.refusal) return refusalPage(h, await civic.texts(request.civic.language), handled.refusal);
  await closed;
  return h.abandon;
}

/**
 * Rejects the last step of an authorization in another browser than the one of the user who approved: the cookies of the library could have
 * been planted there by a website of the same domain.
 */
async function rejectStranger({ accounts, recordIncident }: ServerContext, server: AuthorizationServer, request: Request): Promise<void> {
  const interaction = await (await server.provider()).Interaction.find(String(request.params['uid']));
  const approvedBy = interaction?.result?.login?.accountId;
  if (approvedBy === undefined || accounts.pages.session(request)?.account_id === approvedBy) return;
  await recordIncident(request, { kind: 'oauth_consent_forged', account_id: approvedBy, detail: { path: '/oauth/authorize' } });
  throw problem('not_found', { detail: 'This request was approved in another browser. Return to the app and connect again.' });
}

/** Replaces what the library derives its own address and the client's from: the issuer must never depend on headers of a request. */
function replaceAddress(request: Request, publicUrl: string): void {
  const { req } = request.raw;
  const { host, protocol } = new URL(publicUrl);
  const url = request.path + request.url.search;
  Object.assign(req, { url, originalUrl: basePathOf(publicUrl) + url });
  Object.assign(req.headers, { host, 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-for': clientAddressOf(request) });
  delete req.headers['x-forwarded-host'];
  // Core has checked the origin and set the CORS headers.
  delete req.headers['origin'];
}

/** Rejects a registration when too many apps, from all addresses together, have registered in the last hour. */
async function rejectFlood({ clock, config, db }: ServerContext['civic']): Promise<void> {
  const most = config.registration.clients_per_hour;
  const since = new Date(clock.now() - HOUR_MS).toISOString();
  // Later ones were registered while a clock was ahead.
  const { total, first } = await countRegistered(db.read, since, new Date(latestEnd(clock.now(), 0)).toISOString());
  if (total < most) return;
  throw problem('too_many_requests', {
    detail: `${most} apps have registered in the last hour, which is the limit. Try again later.`,
    headers: exceededHeaders({ limit: most, resetAt: Date.parse(first!) + HOUR_MS, now: clock.now() }),
  });
}
