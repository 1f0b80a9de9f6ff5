import Hapi, { type Request, type ResponseObject, type ResponseToolkit, type Server } from '@hapi/hapi';
import type { Boom } from '@hapi/boom';
import Joi from 'joi';
import type { CoreConfig } from '../config/types.ts';
import { addIdempotency, type IdempotencyOptions } from '../idempotency/handler.ts';
import type { Logger } from '../log.ts';
import type { Check, Metric } from '../plugin.ts';
import { languagePrefix, type Language } from '../texts/language.ts';
import { basePathOf } from '../url.ts';
import { CORE_PATHS, type Vocabulary } from '../vocabulary.ts';
import { problem, problemData } from '../problems.ts';
import { accessLog, loggedPath } from './access.ts';
import { bodyOptions, guardStream, keepAnswerable, refuseBody, rejectUnwieldyBody } from './body.ts';
import { answerBrokenRequests, parseProblem } from './broken.ts';
import { addCallerScheme, type Gates } from './caller.ts';
import { parseTrustedProxy } from './client-address.ts';
import { nothingAt } from './codes.ts';
import { matchesNone } from './conditional.ts';
import { createListener, limitConnections, type ConnectionLimits } from './connections.ts';
import { badCursor, isForgedCursor } from './cursor.ts';
import { addFallback } from './fallback.ts';
import { answerHeaders, openState, type AnswerHeaders, type Headers } from './headers.ts';
import { addHealth } from './health.ts';
import { addMetrics } from './metrics.ts';
import { writeProblem } from './problem.ts';
import { hasLanguages, type RequestState } from './state.ts';
import { randomHex } from './trace.ts';
import { acceptUpgrade, addUpgrades, noteUpgrade } from './upgrade.ts';
import { isDecodable, refuseInput, refuseResponse, rejectMalformedQuery, tightenInput } from './validation.ts';

export interface ServerOptions {
  config: CoreConfig;
  version: string;
  log: Logger;
  /** Filled by plugins while they register. */
  gates: Gates;
  /** The top-level paths that plugins declare. */
  paths?: Vocabulary['paths'];
  checks: () => Check[];
  metrics: () => Metric[];
  /** Where first answers are kept, for requests with an Idempotency-Key. */
  idempotency: IdempotencyOptions;
  /** On in tests: every answer is held against its schema. */
  validateResponses: boolean;
  /** Other limits than the default, in tests. */
  connections?: Partial<ConnectionLimits>;
}

/** The one hapi server. It does not listen yet, and making it touches nothing outside. */
export function createServer(options: ServerOptions): Server {
  const { config, log } = options;
  const publicUrl = config.public_url.replace(/\/+$/, '');
  const basePath = basePathOf(publicUrl);
  const headers = answerHeaders({ publicUrl, corsOrigins: config.http.cors_origins });
  const server = Hapi.server({
    host: config.http.host,
    port: config.http.port,
    debug: false,
    listener: createListener(options.connections),
    compression: { minBytes: Math.max(1, config.http.compress_from_bytes) },
    routes: routeDefaults(options.validateResponses),
  });
  server.validator(Joi);
  // hapi makes it of host name and process id, and nes sends it to clients.
  server.info.id = randomHex(16);
  server.app.civic = {
    publicUrl,
    basePath,
    publicCacheControl: config.http.cache_max_age > 0 ? `public, max-age=${config.http.cache_max_age}` : 'public, no-cache',
    trustedProxies: config.http.trusted_proxies.flatMap(parseTrustedProxy),
    answerHeaders: headers,
    upgrades: addUpgrades(server),
    idempotency: options.idempotency,
    problemPage: null,
    challenges: [],
    paths: new Map([...Object.entries(CORE_PATHS), ...(options.paths ?? [])]),
  };
  server.events.on('route', tightenInput);
  // Cheaper than `onRequest`, and early enough for hapi's own refusals.
  server.decorate('request', 'civic', (request: Request) => open(request, headers, basePath), { apply: true });
  // hapi reads the body before it checks the scope: `onCredentials` is the first step after that, and `onPostAuth` on routes without authentication.
  server.ext('onCredentials', guardStream);
  server.ext('onPostAuth', guardStream);
  server.ext('onPostAuth', rejectUnwieldyBody);
  server.ext('onPostAuth', rejectMalformedQuery);
  server.ext('onPreResponse', (request, h) => close(request, h, headers, log));
  addIdempotency(server, options.idempotency);
  addCallerScheme(server, options.gates);
  addFallback(server, headers.cors);
  addHealth(server, options);
  if (config.metrics.enabled) addMetrics(server, options.metrics);
  const logAccess = accessLog(log, config.log.access);
  server.events.on('response', (request) => {
    logLateFailure(request, log);
    if (!request.app.isExample) logAccess(request);
  });
  answerBrokenRequests(server, publicUrl, headers);
  limitConnections(server.listener, options.connections);
  return server;
}

function routeDefaults(validateResponses: boolean): Hapi.RouteOptions {
  return {
    payload: { ...bodyOptions, failAction: refuseBody },
    validate: { failAction: refuseInput },
    response: { sample: validateResponses ? 100 : 0, failAction: refuseResponse, options: { convert: false, abortEarly: false }, ranges: false },
    // Cookies belong to pages, which ask for them.
    state: { parse: false, failAction: 'ignore' },
  };
}

/** Runs first on every request, and must not throw: ids, trace, and a public address below a path. */
function open(request: Request, answer: AnswerHeaders, basePath: string): RequestState {
  const state = openState(request);
  answer.begin(request.raw.res, state);
  const target = refusedTarget(request);
  state.refusal = parseProblem(request.raw.req) ?? target ?? state.refusal ?? refusedHost(request) ?? refusedQuery(request);
  if (request.headers['transfer-encoding'] !== undefined) keepAnswerable(request.raw.req);
  if ((request.raw.req as { upgrade?: boolean }).upgrade) noteUpgrade(request, state);
  if (basePath !== '' && request.path.startsWith(basePath)) removeBasePath(request, state, basePath);
  const language = languagePrefix(request.path);
  if (language) removeLanguage(request, state, language);
  // No route has this method, so the fallback gets the request and tells the refusal.
  if (state.refusal) request.setMethod('refused' as 'get');
  return state;
}

/** `example.org:443` and `foo://bar` are addresses without a path, which hapi's router does not survive. Nothing of ours has NUL in its path. */
function refusedTarget(request: Request): Boom | null {
  if (request.path.includes('%00')) return problem('not_found', { detail: nothingAt(request.path) });
  if (request.path.includes('%') && !isDecodable(request.path)) {
    const instance = request.path;
    // hapi would answer by itself, past the gates.
    (request as { path: string }).path = instance.replaceAll('%', '%25');
    return problem('bad_request', { extra: { instance } });
  }
  if (request.path[0] === '/') return null;
  (request as { path: string }).path = '/';
  return problem('bad_request', { detail: 'The target of the request has no path.' });
}

const HOST = /^(?:[\w.~%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

function refusedHost(request: Request): Boom | null {
  const host = request.headers['host'] as string | undefined;
  if (host === undefined) return request.raw.req.httpVersion === '1.1' ? problem('bad_request', { detail: 'The Host header is missing.' }) : null;
  return HOST.test(host) ? null : problem('bad_request', { detail: 'The Host header is malformed.' });
}

/** Above every limit of a route, which states its own. Validating thousands of values costs more than the rest of a request. */
const MOST_VALUES = 250;

function refusedQuery(request: Request): Boom | null {
  for (const [parameter, value] of Object.entries(request.query)) {
    if (!Array.isArray(value) || value.length <= MOST_VALUES) continue;
    const detail = `is given ${value.length} times; at most ${MOST_VALUES} values are allowed`;
    return problem('invalid_request', { detail: `${parameter} ${detail}`, errors: [{ parameter, detail }] });
  }
  return null;
}

/** A proxy may or may not remove the path of the public address; routes never have it. */
function removeBasePath(request: Request, state: RequestState, basePath: string): void {
  const rest = request.path.slice(basePath.length);
  if (rest === '' || rest[0] === '/') setPath(request, state, rest || '/');
}

/** `/es/places` is the page `/places` in Spanish: routes never have the language. What is no page has one address only. */
function removeLanguage(request: Request, state: RequestState, language: Language): void {
  state.language = language;
  const path = request.path.slice(3) || '/';
  if (!hasLanguages(request.server, path)) return;
  state.languagePrefix = `/${language}`;
  setPath(request, state, path);
}

function setPath(request: Request, state: RequestState, path: string): void {
  try {
    request.setUrl(path + (request.url?.search ?? ''));
  } catch {
    state.refusal = problem('bad_request', { detail: 'The address or the Host header is malformed.' });
  }
}

function takeRefusal(request: Request): Boom {
  const state = request.civic;
  const refusal = state.refusal!;
  state.refusal = null;
  return refusal;
}

/** The one `onPreResponse`: problems, upgrades, conditional requests, headers. */
function close(request: Request, h: ResponseToolkit, answer: AnswerHeaders, log: Logger): symbol | Boom | ResponseObject | Promise<Boom | ResponseObject> {
  const state = request.civic;
  const response = request.response as Boom | ResponseObject;
  const refusal = state.refusal ? takeRefusal(request) : null;
  if (refusal || isBoom(response)) return fail(refusal ?? told(response as Boom, request), request, h, answer, log);
  const headers = response.headers as Headers;
  if (state.upgrade && response.statusCode < 300 && acceptUpgrade(request, state.upgrade)) return h.abandon;
  answer.finish(headers, request);
  if (headers['etag'] !== undefined) answerUnmodified(request, response);
  return h.continue;
}

function isBoom(response: Boom | ResponseObject): response is Boom {
  return (response as Boom).isBoom === true;
}

function told(error: Boom, request: Request): Boom {
  return error.isServer && isForgedCursor(error, request.query) ? badCursor() : error;
}

function answerUnmodified(request: Request, response: ResponseObject): void {
  if (response.statusCode !== 200 || (request.method !== 'get' && request.method !== 'head')) return;
  const wanted = request.headers['if-none-match'] as string | undefined;
  if (wanted !== undefined && matchesNone(wanted, String(response.headers['etag']))) response.code(304);
}

function fail(error: Boom, request: Request, h: ResponseToolkit, answer: AnswerHeaders, log: Logger): Boom | Promise<Boom | ResponseObject> {
  const body = writeProblem(error, request);
  if (error.output.statusCode >= 500) logFailure(error, request, log);
  const asJson = (): Boom => {
    answer.finish(error.output.headers as Headers, request);
    return error;
  };
  const page = request.server.app.civic.problemPage?.(request, h, body);
  if (!page) return asJson();
  return page.then((response) => {
    keepHeaders(error, response);
    answer.finish(response.headers as Headers, request);
    return response;
  }, (failure: unknown) => {
    log.error({ err: failure }, 'The page about a problem cannot be rendered');
    return asJson();
  });
}

/** A page about a problem still says Allow, Retry-After and WWW-Authenticate. */
function keepHeaders(error: Boom, page: ResponseObject): void {
  const { 'content-type': _type, ...headers } = error.output.headers;
  for (const [name, value] of Object.entries(headers)) page.header(name, String(value));
}

/** The cause of a failure goes to the log, once, and nowhere else. One that was foreseen and has no cause is no news. */
function logFailure(error: Boom, request: Request, log: Logger): void {
  request.civic.isLogged = true;
  const data = problemData(error);
  if (data && data.cause === undefined) return;
  log.error({ err: causeOf(data ? data.cause : error), request_id: request.civic.requestId, method: request.raw.req.method, path: loggedPath(request) }, 'request failed');
}

/** The error without what Boom and libraries hang onto it: that may hold what callers sent. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause === undefined ? undefined : { cause: causeOf(error.cause) };
  const code = (error as { code?: unknown }).code;
  return Object.assign(new Error(error.message, cause), { stack: error.stack }, typeof code === 'string' && { code });
}

/** hapi writes the answer after `onPreResponse`; what fails there, such as JSON that cannot be made, shows only here. */
function logLateFailure(request: Request, log: Logger): void {
  const response = request.response as { statusCode?: number; _error?: Boom };
  if (response.statusCode === 500 && response._error && !request.civic.isLogged) logFailure(response._error, request, log);
}
