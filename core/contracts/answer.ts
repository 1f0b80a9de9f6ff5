import Joi, { type Schema } from 'joi';
import { isRepeatable } from '../idempotency/handler.ts';
import type { ProblemKind, ProblemKinds } from '../problems.ts';
import type { PublishedRoute } from './route.ts';

/** One status an operation can answer. */
export interface Answer {
  status: number;
  /** The media types of its body; empty when it has none. */
  types: string[];
  schema: Schema | null;
  /** The codes of its problems; empty when all went well. */
  codes: string[];
  headers: string[];
}

const inputError = Joi.object({
  pointer: Joi.string().allow('').description('Where in the body, as a JSON pointer'),
  parameter: Joi.string().allow('').description('Which query parameter, path parameter or header; a query parameter may be named by the empty string'),
  detail: Joi.string().required().description('What is wrong with the value'),
}).meta({ name: 'InputError' });

/** The body of every problem, RFC 9457. Single codes add members of their own. */
export const problemSchema = Joi.object({
  type: Joi.string().uri().required().description('A page that explains the code'),
  code: Joi.string().required().description('The error, for programs'),
  title: Joi.string().required(),
  status: Joi.number().integer().required(),
  detail: Joi.string().description('What is wrong with this request'),
  instance: Joi.string().required().description('The requested path'),
  request_id: Joi.string().required().description('The id of the request in the log of the server'),
  errors: Joi.array().items(inputError).description('All invalid values of the input'),
}).unknown().meta({ name: 'Problem' });

const always = (): boolean => true;
const readsBody = (route: PublishedRoute): boolean => route.method !== 'get';
const asksCaller = (route: PublishedRoute): boolean => route.access.mode !== 'open';
const needsCaller = (route: PublishedRoute): boolean => route.access.mode === 'required';

/** Core's codes that follow from a route's own settings; a route declares the others that it throws. */
const IMPLIED: Record<string, (route: PublishedRoute) => boolean> = {
  bad_request: always,
  invalid_header: always,
  invalid_request: (route) => route.isApi || Boolean(route.query ?? route.payload ?? route.headers),
  malformed_body: readsBody,
  invalid_cursor: (route) => route.isList,
  two_credentials: asksCaller,
  invalid_credentials: asksCaller,
  authentication_required: needsCaller,
  no_accounts: asksCaller,
  // Also on public routes: a token without any scope, as an app with an ID token has, is rejected everywhere.
  insufficient_scope: asksCaller,
  permission_required: (route) => route.declaration.role !== undefined,
  plan_required: asksCaller,
  not_found: (route) => route.paramNames.length > 0,
  idempotency_key_reused: (route) => isRepeatable(route),
  idempotency_in_progress: (route) => isRepeatable(route),
  secret_shown_once: (route) => isRepeatable(route) && route.declaration.secret === true,
  request_timeout: readsBody,
  body_too_large: readsBody,
  unsupported_media_type: readsBody,
  headers_too_large: always,
  upgrade_required: (route) => route.declaration.stream?.protocol === 'websocket',
  internal_error: always,
  unavailable: always,
};

/** So that a test can hold them to core's registry. */
export const impliedCodes: readonly string[] = Object.keys(IMPLIED);

/** What is known of the installation as a whole. */
export interface Surroundings {
  /** The codes of core and of every plugin that runs. */
  problems: ProblemKinds;
  /** A plugin counts requests under `/api`. */
  isCounted: boolean;
}

/** Every status a route can answer, worked out from its settings and the plugins that run. */
export function answersOf(route: PublishedRoute, around: Surroundings): Answer[] {
  const { problems } = around;
  if (route.declaration.protocol) return protocolAnswers(route, around);
  const answers = new Map<number, Answer>();
  for (const [status, schema] of route.successes) answers.set(status, success(route, status, schema, around));
  if (route.declaration.stream) addStream(route, answers, around);
  if (route.declaration.conditional) answers.set(304, success(route, 304, null, around));
  for (const code of codesOf(route, around)) {
    const { status } = problems[code]!;
    const answer = answers.get(status) ?? { status, types: ['application/problem+json'], schema: problemSchema, codes: [], headers: headersOf(route, status, around) };
    answer.codes.push(code);
    answers.set(status, answer);
  }
  return [...answers.values()].sort((a, b) => a.status - b.status);
}

/** Returns the responses that another specification defines, and the one that core sends before a route is known. */
function protocolAnswers(route: PublishedRoute, around: Surroundings): Answer[] {
  const own = Object.entries(route.declaration.protocol!.responses).map(([status, schema]): Answer => {
    return { status: Number(status), types: schema ? ['application/json'] : [], schema, codes: [], headers: headersOf(route, Number(status), around) };
  });
  return [...own, { status: 431, types: ['application/problem+json'], schema: problemSchema, codes: ['headers_too_large'], headers: headersOf(route, 431, around) }];
}

function codesOf(route: PublishedRoute, around: Surroundings): string[] {
  const { problems } = around;
  const own = route.declaration.problems ?? [];
  for (const code of own) {
    if (!problems[code]) throw new Error(`${route.method.toUpperCase()} ${route.path} declares the problem "${code}", which no plugin registers`);
  }
  // What counts nothing refuses nobody for asking too often.
  const happens = ({ anywhere, status }: ProblemKind): boolean => Boolean(anywhere) && !(status === 429 && route.declaration.rate === 'none');
  const implied = Object.keys(problems).filter((code) => happens(problems[code]!) || IMPLIED[code]?.(route));
  const counted = countsRequests(route, around) ? ['too_many_requests'] : [];
  return [...new Set([...implied, ...counted, ...own])].sort();
}

function countsRequests(route: PublishedRoute, around: Surroundings): boolean {
  return around.isCounted && route.isApi && route.declaration.rate !== 'none';
}

function success(route: PublishedRoute, status: number, schema: Schema | null, around: Surroundings): Answer {
  const hasBody = status !== 204 && status !== 304;
  const other = route.declaration.produces ?? [];
  const types = hasBody ? (schema && !other.some(isJson) ? ['application/json', ...other] : other) : [];
  return { status, types, schema, codes: [], headers: headersOf(route, status, around) };
}

/** Whether the schema of a response describes bodies of this media type. */
export function isJson(type: string): boolean {
  return /[/+]json$/.test(type);
}

/** A stream answers 200 with events, besides JSON when the route has a schema; a socket switches protocols. */
function addStream(route: PublishedRoute, answers: Map<number, Answer>, around: Surroundings): void {
  const ok = answers.get(200);
  if (route.declaration.stream!.protocol === 'sse') ok?.types.push('text/event-stream');
  else {
    if (!ok?.schema) answers.delete(200);
    answers.set(101, { ...success(route, 101, null, around), types: [] });
  }
}

function headersOf(route: PublishedRoute, status: number, around: Surroundings): string[] {
  const isConditional = route.declaration.conditional && (status === 200 || status === 304);
  return [
    'X-Request-ID',
    'Traceparent',
    'Tracestate',
    ...(route.declaration.rate === 'auth' ? [] : ['Server-Timing']),
    ...(isConditional ? ['ETag', 'Cache-Control', 'Vary', 'Content-Location'] : []),
    ...(status === 200 && route.isList ? ['Link'] : []),
    ...(status < 400 && status !== 204 ? route.declaration.headers ?? [] : []),
    ...(countsRequests(route, around) ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] : []),
    ...(ADDED[status] ?? []),
    ...(isRepeatable(route) && (route.successes.has(status) || status === 409) ? ['Idempotency-Replayed'] : []),
    ...(status === 415 ? [route.method === 'patch' ? 'Accept-Patch' : 'Accept-Post'] : []),
  ];
}

const ADDED: Record<number, string[]> = {
  101: ['Upgrade', 'Sec-WebSocket-Protocol'],
  201: ['Location'],
  202: ['Location', 'Retry-After'],
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  406: ['Accept'],
  426: ['Upgrade'],
  429: ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  503: ['Retry-After'],
};
