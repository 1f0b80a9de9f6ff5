import Hapi, { type Request, type ResponseObject, type ResponseToolkit, type Server } from '@hapi/hapi';
import type { Boom } from '@hapi/boom';
import Joi, { type Schema } from 'joi';
import type { Clock } from '../clock.ts';
import type { CoreConfig } from '../config/types.ts';
import type { Logger } from '../log.ts';
import type { Check } from '../plugin.ts';
import { problem, problemData } from '../problems.ts';
import { accessLog, maskedPath } from './access.ts';
import { bodyOptions, refuseBody } from './body.ts';
import { answerBrokenRequests } from './broken.ts';
import { addCallerScheme, type Gates } from './caller.ts';
import { parseTrustedProxies } from './client-address.ts';
import { matchesNone } from './conditional.ts';
import { addFallback } from './fallback.ts';
import { answerHeaders, openState, type AnswerHeaders, type Headers } from './headers.ts';
import { addHealth } from './health.ts';
import { addMetrics } from './metrics.ts';
import { writeProblem } from './problem.ts';
import { acceptUpgrade, addUpgrades, pendingUpgrade } from './upgrade.ts';
import { refuseInput, refuseResponse, validationOptions } from './validation.ts';

export interface ServerOptions {
  config: CoreConfig;
  version: string;
  log: Logger;
  clock: Clock;
  /** Filled by plugins while they register. */
  gates: Gates;
  checks: () => Check[];
  /** On in tests: every answer is held against its schema. */
  validateResponses: boolean;
}

/** The one hapi server. It does not listen yet, and making it touches nothing outside. */
export function createServer(options: ServerOptions): Server {
  const { config, log } = options;
  const publicUrl = config.public_url.replace(/\/+$/, '');
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, '');
  const headers = answerHeaders({ publicUrl, corsOrigins: config.http.cors_origins });
  const server = Hapi.server({
    host: config.http.host,
    port: config.http.port,
    debug: false,
    compression: { minBytes: Math.max(1, config.http.compress_from_bytes) },
    routes: routeDefaults(options.validateResponses),
  });
  server.validator(Joi);
  server.app.civic = {
    publicUrl,
    basePath,
    publicCacheControl: config.http.cache_max_age > 0 ? `public, max-age=${config.http.cache_max_age}` : 'public, no-cache',
    trustedProxies: parseTrustedProxies(config.http.trusted_proxies),
    answerHeaders: headers,
    upgrades: addUpgrades(server, basePath),
    problemPage: null,
  };
  server.events.on('route', (route) => keepBodyTypes(route.settings.validate));
  server.ext('onRequest', (request, h) => open(request, h, basePath));
  server.ext('onPreResponse', (request, h) => close(request, h, headers, log));
  addCallerScheme(server, options.gates);
  addFallback(server, headers.cors);
  addHealth(server, options);
  if (config.metrics.enabled) addMetrics(server);
  const logAccess = accessLog(log, config.log.access);
  server.events.on('response', (request) => {
    logLateFailure(request, log);
    logAccess(request);
  });
  answerBrokenRequests(server, publicUrl, headers);
  return server;
}

function routeDefaults(validateResponses: boolean): Hapi.RouteOptions {
  return {
    payload: { ...bodyOptions, failAction: refuseBody },
    validate: { options: validationOptions, failAction: refuseInput },
    response: { sample: validateResponses ? 100 : 0, failAction: refuseResponse, options: { convert: false, abortEarly: false }, ranges: false },
    // Cookies belong to pages, which ask for them.
    state: { parse: false, failAction: 'ignore' },
  };
}

/** Query and path are text and are converted; JSON has types of its own, and "5" is not 5. */
function keepBodyTypes(validate: { payload?: unknown } | undefined): void {
  const schema = validate?.payload as Schema | undefined;
  if (validate && schema && typeof schema.prefs === 'function') validate.payload = schema.prefs({ convert: false });
}

/** The one `onRequest`: ids, trace, and a public address below a path. */
function open(request: Request, h: ResponseToolkit, basePath: string): symbol {
  const state = openState(request);
  if (state.refusal) throw takeRefusal(request);
  if ((request.raw.req as { upgrade?: boolean }).upgrade) state.upgrade = pendingUpgrade(request);
  if (basePath !== '' && request.path.startsWith(basePath)) removeBasePath(request, basePath);
  return h.continue;
}

/** A proxy may or may not remove the path of the public address; routes never have it. */
function removeBasePath(request: Request, basePath: string): void {
  const rest = request.raw.req.url!.slice(basePath.length);
  if (rest !== '' && rest[0] !== '/' && rest[0] !== '?') return;
  try {
    request.setUrl(rest[0] === '/' ? rest : `/${rest}`);
  } catch {
    throw problem('bad_request', { detail: 'The address or the Host header is malformed.' });
  }
}

function takeRefusal(request: Request): Boom {
  const state = request.plugins.civic;
  const refusal = state.refusal!;
  state.refusal = null;
  return refusal;
}

/** The one `onPreResponse`: problems, upgrades, conditional requests, headers. */
function close(request: Request, h: ResponseToolkit, answer: AnswerHeaders, log: Logger): symbol | Boom | ResponseObject {
  const state = request.plugins.civic;
  const response = request.response as Boom | ResponseObject;
  const refusal = state.refusal ? takeRefusal(request) : null;
  if (refusal || isBoom(response)) return fail(refusal ?? (response as Boom), request, h, answer, log);
  const headers = response.headers as Headers;
  if (state.upgrade && response.statusCode < 300 && acceptUpgrade(request, state.upgrade)) return h.abandon;
  answer.apply(headers, request);
  if (headers['etag'] !== undefined) answerUnmodified(request, response);
  return h.continue;
}

function isBoom(response: Boom | ResponseObject): response is Boom {
  return (response as Boom).isBoom === true;
}

function answerUnmodified(request: Request, response: ResponseObject): void {
  if (response.statusCode !== 200 || (request.method !== 'get' && request.method !== 'head')) return;
  const wanted = request.headers['if-none-match'] as string | undefined;
  if (wanted !== undefined && matchesNone(wanted, String(response.headers['etag']))) response.code(304);
}

function fail(error: Boom, request: Request, h: ResponseToolkit, answer: AnswerHeaders, log: Logger): Boom | ResponseObject {
  const body = writeProblem(error, request);
  if (error.output.statusCode >= 500) logFailure(error, request, log);
  const page = request.server.app.civic.problemPage?.(request, h, body);
  if (page) keepHeaders(error, page);
  answer.apply((page ? page.headers : error.output.headers) as Headers, request);
  return page ?? error;
}

/** A page about a problem still says Allow, Retry-After and WWW-Authenticate. */
function keepHeaders(error: Boom, page: ResponseObject): void {
  const { 'content-type': _type, ...headers } = error.output.headers;
  for (const [name, value] of Object.entries(headers)) page.header(name, String(value));
}

/** The cause of a failure goes to the log, once, and nowhere else. One that was foreseen and has no cause is no news. */
function logFailure(error: Boom, request: Request, log: Logger): void {
  request.plugins.civic.isLogged = true;
  const data = problemData(error);
  if (data && data.cause === undefined) return;
  log.error({ err: data ? data.cause : error, request_id: request.plugins.civic.requestId, method: request.method.toUpperCase(), path: maskedPath(request.raw.req.url!) }, 'request failed');
}

/** hapi writes the answer after `onPreResponse`; what fails there, such as JSON that cannot be made, shows only here. */
function logLateFailure(request: Request, log: Logger): void {
  const response = request.response as { statusCode?: number; _error?: Boom };
  if (response.statusCode === 500 && response._error && !request.plugins.civic.isLogged) logFailure(response._error, request, log);
}
