import type { Request, RequestRoute, Server } from '@hapi/hapi';
import { answersOf, problemSchema, type Answer, type Surroundings } from './answer.ts';
import { describeRoute, isPublished } from './route.ts';

export interface RecorderOptions extends Surroundings {
  /** Told of every answer that breaks the published contract, in one line. */
  onFault(fault: string): void;
}

/** Response headers that a client needs for its next request. */
const REQUIRED_HEADERS: Record<number, string[]> = {
  429: ['retry-after', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
};

const ended = new WeakMap<Request, Buffer>();

/** Compares every answer of a server with what its operation declares: its status, its problem codes and its body. */
export function recordResponses(server: Server, options: RecorderOptions): void {
  const declared = new Map<RequestRoute, Map<number, Answer>>();

  function answersFor(route: RequestRoute): Map<number, Answer> {
    let answers = declared.get(route);
    if (!answers) {
      answers = new Map(answersOf(describeRoute(server, route), options).map((answer) => [answer.status, answer]));
      declared.set(route, answers);
    }
    return answers;
  }

  // What is sent past hapi is seen only as it leaves.
  server.ext('onRequest', (request, h) => {
    const { res } = request.raw;
    const end = res.end.bind(res) as (...given: unknown[]) => typeof res;
    res.end = ((...given: unknown[]) => {
      if (Buffer.isBuffer(given[0])) ended.set(request, given[0]);
      return end(...given);
    }) as typeof res.end;
    return h.continue;
  });
  server.events.on('response', (request) => {
    const { res } = request.raw;
    if (!res.headersSent || !isPublished(request.route)) return;
    for (const fault of faultsOf(request, res.statusCode, answersFor(request.route))) {
      options.onFault(`${request.method.toUpperCase()} ${request.path} answered ${res.statusCode}: ${fault}`);
    }
  });
}

function faultsOf(request: Request, status: number, answers: Map<number, Answer>): string[] {
  const missing = (REQUIRED_HEADERS[status] ?? []).filter((name) => !request.raw.res.hasHeader(name));
  if (missing.length > 0) return [`it lacks ${missing.join(', ')}`];
  const answer = answers.get(status);
  if (!answer) return [`the operation declares only ${[...answers.keys()].join(', ')}`];
  const type = String(request.raw.res.getHeader('content-type') ?? '').split(';')[0]!;
  const body = bodyOf(request);
  if (type === 'application/problem+json') return problemFaults(body, status, answer);
  if (status >= 400 && request.path.startsWith('/api/')) return [`the body is ${type || 'empty'}, not application/problem+json`];
  if (type !== 'application/json' || !answer.schema || body === undefined) return [];
  return invalid(answer.schema, body);
}

function problemFaults(body: unknown, status: number, answer: Answer): string[] {
  if (body === undefined) return [];
  const { code, status: said } = body as { code?: string; status?: number };
  return [
    ...invalid(problemSchema, body),
    ...(said === status ? [] : [`its body says ${said}`]),
    ...(code !== undefined && answer.codes.includes(code) ? [] : [`the code "${code}" is not declared (${answer.codes.join(', ')})`]),
  ];
}

function invalid(schema: NonNullable<Answer['schema']>, body: unknown): string[] {
  const { error } = schema.validate(body, { convert: false, abortEarly: false });
  return error ? error.details.map((detail) => `the body does not fit its schema: ${detail.message}`) : [];
}

/** The body as the caller reads it, or undefined when it is a stream, not JSON, or not sent. */
function bodyOf(request: Request): unknown {
  const { response } = request;
  if (request.method === 'head' || response === null || (typeof response === 'object' && 'isBoom' in response)) return undefined;
  const isZipped = request.raw.res.hasHeader('content-encoding');
  const source = typeof response === 'symbol' ? (isZipped ? undefined : ended.get(request)) : response.source as unknown;
  const isStream = typeof (source as { pipe?: unknown } | null)?.pipe === 'function';
  if (source === null || source === undefined || isStream) return undefined;
  try {
    return JSON.parse(typeof source === 'string' || Buffer.isBuffer(source) ? source.toString() : JSON.stringify(source));
  } catch {
    return undefined;
  }
}
