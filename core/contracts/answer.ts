import Joi, { type Schema } from 'joi';
import type { ProblemKinds } from '../problems.ts';
import type { RouteFacts } from './route.ts';

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
  parameter: Joi.string().description('Which query parameter, path parameter or header'),
  detail: Joi.string().required().description('What is wrong with it'),
}).meta({ name: 'InputError' });

/** The body of every problem, RFC 9457. Single codes add members of their own. */
export const problemSchema = Joi.object({
  type: Joi.string().uri().required().description('A page that explains the code'),
  code: Joi.string().required().description('What went wrong, for programs'),
  title: Joi.string().required(),
  status: Joi.number().integer().required(),
  detail: Joi.string().required().description('What happened this time'),
  instance: Joi.string().required().description('The path that was asked for'),
  request_id: Joi.string().required().description('Names this request in the server’s log'),
  errors: Joi.array().items(inputError).description('Each thing wrong with the input'),
}).unknown().meta({ name: 'Problem' });

/** Core's codes that follow from a route's own settings. Those of kinds marked `anywhere` follow from every route. */
const IMPLIED: Record<string, (route: RouteFacts) => boolean> = {
  invalid_input: (route) => route.isApi || Boolean(route.query ?? route.payload ?? route.headers),
  malformed_body: (route) => route.consumes.length > 0,
  no_accounts: (route) => route.access.mode === 'required',
  authentication_required: (route) => route.access.mode === 'required',
  insufficient_scope: (route) => route.access.scopes.length > 0,
  permission_required: (route) => route.declaration.role !== undefined,
  plan_required: (route) => route.declaration.plan !== undefined,
  not_found: (route) => route.paramNames.length > 0,
  body_too_large: (route) => route.consumes.length > 0,
  unsupported_media_type: (route) => route.consumes.length > 0,
  upgrade_required: (route) => route.declaration.stream?.protocol === 'websocket',
};

export const impliedCodes: readonly string[] = Object.keys(IMPLIED);

/** Every status a route can answer, worked out from its settings and the problems of the plugins that run. */
export function answersOf(route: RouteFacts, problems: ProblemKinds): Answer[] {
  const answers = new Map<number, Answer>();
  for (const [status, schema] of route.successes) answers.set(status, success(route, status, schema, problems));
  if (route.declaration.stream) addStream(route, answers, problems);
  if (route.declaration.conditional) answers.set(304, success(route, 304, null, problems));
  for (const code of codesOf(route, problems)) {
    const { status } = problems[code]!;
    const answer = answers.get(status) ?? { status, types: ['application/problem+json'], schema: problemSchema, codes: [], headers: headersOf(route, status, problems) };
    answer.codes.push(code);
    answers.set(status, answer);
  }
  return [...answers.values()].sort((a, b) => a.status - b.status);
}

function codesOf(route: RouteFacts, problems: ProblemKinds): string[] {
  const codes = Object.keys(problems).filter((code) => problems[code]!.anywhere || IMPLIED[code]?.(route));
  const isUncounted = route.declaration.rate === 'none';
  const own = route.declaration.problems ?? [];
  for (const code of own) {
    if (!problems[code]) throw new Error(`${route.method.toUpperCase()} ${route.path} declares the problem "${code}", which no plugin registers`);
  }
  return [...new Set([...codes, ...own])].filter((code) => !(isUncounted && problems[code]!.status === 429)).sort();
}

function success(route: RouteFacts, status: number, schema: Schema | null, problems: ProblemKinds): Answer {
  const hasBody = status !== 204 && status !== 304;
  const other = route.declaration.produces ?? [];
  const types = hasBody ? (schema ? ['application/json', ...other] : other) : [];
  return { status, types, schema, codes: [], headers: headersOf(route, status, problems) };
}

/** A stream answers 200 with events, besides JSON when the route has a schema; a socket switches protocols. */
function addStream(route: RouteFacts, answers: Map<number, Answer>, problems: ProblemKinds): void {
  const ok = answers.get(200);
  if (route.declaration.stream!.protocol === 'sse') ok?.types.push('text/event-stream');
  else {
    if (!ok?.schema) answers.delete(200);
    answers.set(101, { ...success(route, 101, null, problems), types: [] });
  }
}

function headersOf(route: RouteFacts, status: number, problems: ProblemKinds): string[] {
  const isCounted = route.isApi && route.declaration.rate !== 'none' && Object.values(problems).some((kind) => kind.anywhere && kind.status === 429);
  const isConditional = route.declaration.conditional && (status === 200 || status === 304);
  const isList = status === 200 && route.query?.describe().keys?.cursor !== undefined;
  return [
    'X-Request-ID',
    'Traceparent',
    ...(route.declaration.rate === 'auth' ? [] : ['Server-Timing']),
    ...(isConditional ? ['ETag', 'Cache-Control', 'Vary', 'Content-Location'] : []),
    ...(isList ? ['Link'] : []),
    ...(isCounted ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] : []),
    ...(ADDED[status] ?? []),
    ...(status === 415 ? [route.method === 'patch' ? 'Accept-Patch' : 'Accept-Post'] : []),
  ];
}

const ADDED: Record<number, string[]> = {
  101: ['Upgrade', 'Sec-WebSocket-Protocol'],
  201: ['Location'],
  202: ['Location', 'Retry-After'],
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  406: ['Accept'],
  426: ['Upgrade'],
  429: ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  503: ['Retry-After'],
};
