import type { Boom } from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import { problemData, problemKind, type InputError, type ProblemData } from '../problems.ts';
import type { RouteDeclaration } from '../plugin.ts';
import { bearerChallenge } from './challenge.ts';
import { codeForStatus } from './codes.ts';
import { pathKindOf, routeTraits } from './state.ts';

/** RFC 9457, with a code, the request's id and, for bad input, where it is. */
export interface ProblemBody {
  type: string;
  code: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  request_id: string;
  errors?: InputError[];
}

export const PROBLEM_TYPE = 'application/problem+json';

/** Turns an error into the answer the caller sees: status, headers and body of its `output`. */
export function writeProblem(error: Boom, request: Request): ProblemBody {
  const status = error.output.statusCode;
  const data = problemData(error) ?? untold(error, status);
  const challenge = bearerChallenge(request, data, status);
  const body = problemBody(data, status, request);
  const headers: Record<string, string | string[] | number | undefined> = {};
  for (const [name, value] of Object.entries(error.output.headers)) headers[name.toLowerCase()] = value;
  Object.assign(headers, data.headers && lowerCased(data.headers), { 'content-type': PROBLEM_TYPE });
  headers['cache-control'] ??= 'no-store';
  if (challenge) headers['www-authenticate'] ??= challenge;
  const own = ownErrors(request);
  if (own) headers['content-type'] = 'application/json';
  error.output.headers = headers as typeof error.output.headers;
  error.output.payload = (own ? own(body, request) : body) as unknown as typeof error.output.payload;
  return body;
}

/** Returns the function for bodies of errors that the route declares, or, where no route matches, the path. */
function ownErrors({ route, server, path }: Request): RouteDeclaration['errors'] {
  return routeTraits(route).isFallback ? pathKindOf(server, path)?.errors : route.settings.plugins?.civic?.errors;
}

/** The body of a problem that is about a request. */
function problemBody(data: ProblemData, status: number, request: Request): ProblemBody {
  const { publicUrl, basePath } = request.server.app.civic;
  const { detail, errors, extra } = data;
  return {
    ...bareProblem(publicUrl, data.code, request.civic.requestId),
    status,
    ...(detail !== undefined && { detail }),
    instance: request.path.startsWith('/') ? basePath + request.civic.languagePrefix + request.path : '/',
    ...(errors && { errors }),
    ...extra,
  };
}

/** The members that need no request. */
export function bareProblem(publicUrl: string, code: string, requestId: string): ProblemBody {
  const kind = problemKind(code)!;
  return { type: `${publicUrl}/problems/${code}`, code, title: kind.title, status: kind.status, detail: kind.advice, instance: '/', request_id: requestId };
}

/** An error that came without a code. The words of a client error may be shown, those of a server error never. */
function untold(error: Boom, status: number): ProblemData {
  if (status >= 500) return { code: codeForStatus(status) };
  if (status === 403 && isScopeError(error.data)) return scopeProblem(error.data.need);
  // hapi often has no more to say than the name of the status.
  return error.message === error.output.payload.error ? { code: codeForStatus(status) } : { code: codeForStatus(status), detail: error.message };
}

type Scope = Partial<Record<'required' | 'selection' | 'forbidden', string[]>>;

function isScopeError(data: unknown): data is { need: Scope[] } {
  return typeof data === 'object' && data !== null && Array.isArray((data as { need?: unknown }).need);
}

function scopeProblem(need: Scope[]): ProblemData {
  const scopes = [...new Set(need.flatMap((scope) => [...(scope.required ?? []), ...(scope.selection ?? [])]))];
  return {
    code: 'insufficient_scope',
    detail: `This needs the scope ${scopes.join(' or ')}.`,
    extra: { scopes },
  };
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
