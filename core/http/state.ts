import type { Boom } from '@hapi/boom';
import type { Request, RequestRoute, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import type { IncomingMessage } from 'node:http';
import type { IdempotencyOptions } from '../idempotency/handler.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import type { Language } from '../texts/language.ts';
import type { AnswerHeaders } from './headers.ts';
import type { ProblemBody } from './problem.ts';
import type { Trace } from './trace.ts';
import type { CorsDeclaration } from '../plugin.ts';
import type { PathKind } from '../vocabulary.ts';
import type { PendingUpgrade, Upgrades } from './upgrade.ts';

/** What core knows of one request; it lives at `request.civic`. */
export interface RequestState {
  requestId: string;
  trace: Trace;
  /** By the monotonic clock. */
  started: number;
  /** Headers to add to the answer whatever it will be, such as those of rate limits. */
  headers: Record<string, string> | null;
  /** The problem of a request that is rejected before its handler. Set in `onPreAuth`, it is the response after the gates have counted the request. */
  refusal: Boom | null;
  upgrade: PendingUpgrade | null;
  clientAddress: string | null;
  /** The language of a page in the response. */
  language: Language;
  /** `/es` when the address has it; empty when `Accept-Language` decided. `request.path` never has it. */
  languagePrefix: string;
  /** What the forms of this reader's pages must bring back; null when nobody is signed in. */
  formToken: string | null;
  /** Its failure is already in the log. */
  isLogged: boolean;
}

/** What core's HTTP part knows of the installation; it lives at `server.app.civic`. */
export interface HttpState {
  /** Without a trailing slash. */
  publicUrl: string;
  /** The path of the public address: empty, or `/civic`. */
  basePath: string;
  /** For answers that everybody gets alike. */
  publicCacheControl: string;
  trustedProxies: TrustedProxies;
  answerHeaders: AnswerHeaders;
  upgrades: Upgrades;
  idempotency: IdempotencyOptions;
  /** Set by the pages: a problem as a page for those who asked for HTML, or null. */
  problemPage: ((request: Request, h: ResponseToolkit, problem: ProblemBody) => Promise<ResponseObject> | null) | null;
  /** Parameters that plugins add to the `Bearer` challenge. */
  challenges: ((request: Request) => Record<string, string> | null)[];
  /** The first parts of paths, such as `/api`: core's own and those that plugins declare. */
  paths: ReadonlyMap<string, PathKind>;
}

declare module '@hapi/hapi' {
  interface Request { civic: RequestState }
  interface ServerApplicationState { civic: HttpState }
  interface RequestApplicationState {
    /** The server itself requests an example for `/docs`: no gate is called, and the request is neither logged nor measured. */
    isExample?: boolean;
  }
}

export function httpState(server: Server): HttpState {
  return server.app.civic;
}

/** Returns what is declared of the first part of a path, if anything is. */
export function pathKindOf(server: Server, path: string): PathKind | undefined {
  const end = path.indexOf('/', 1);
  return server.app.civic.paths.get(end === -1 ? path : path.slice(0, end));
}

/** Whether programs call a path: nothing there is a page. */
export function isForPrograms(server: Server, path: string): boolean {
  return pathKindOf(server, path)?.audience === 'programs';
}

/** Whether the pages at a path also have an address in each language, such as `/es/places`. */
export function hasLanguages(server: Server, path: string): boolean {
  const kind = pathKindOf(server, path);
  return kind === undefined || (kind.audience === 'people' && kind.languages !== false);
}

/** Returns the path of a page for links and redirects: below the path of `public_url`, and in the language that the address of the request has. */
export function pagePath({ server, civic: { languagePrefix } }: Request, path: string): string {
  const prefix = languagePrefix !== '' && hasLanguages(server, pathOnly(path)) ? languagePrefix : '';
  return server.app.civic.basePath + prefix + path;
}

function pathOnly(address: string): string {
  return address.split(/[?#]/, 1)[0]!;
}

/** The absolute public address of a path; never made from the Host header. */
export function absoluteUrl(server: Server, path: string): string {
  return server.app.civic.publicUrl + path;
}

/** Who sent the request, seen through the trusted proxies. */
export function clientAddressOf(request: Request): string {
  const state = request.civic;
  state.clientAddress ??= clientAddress(connection(request.raw.req), request.server.app.civic.trustedProxies);
  return state.clientAddress;
}

function connection(req: IncomingMessage): { remoteAddress: string; forwardedFor: string | string[] | undefined } {
  return { remoteAddress: req.socket?.remoteAddress ?? '', forwardedFor: req.headers['x-forwarded-for'] };
}

/** Adds headers to the answer, whatever it will be: also to errors and raw answers. */
export function addHeaders(request: Request, headers: Record<string, string>): void {
  const state = request.civic;
  state.headers = state.headers ? { ...state.headers, ...headers } : headers;
}

/** Returns the scopes of which a route requires one. */
export function routeScopes({ settings: { auth } }: RequestRoute): string[] {
  const access = (typeof auth === 'object' && auth ? auth.access ?? [] : []) as { scope?: false | { selection?: string[]; required?: string[] } }[];
  return access.flatMap(({ scope }) => (scope ? [...scope.selection ?? [], ...scope.required ?? []] : []));
}

/** What follows from a route's own settings; worked out once a route. */
export interface RouteTraits {
  /** Any website may read it: everybody gets it, and it changes nothing. */
  isOpen: boolean;
  /** The response has a Server-Timing header. */
  isTimed: boolean;
  /** It serves requests that match no other route: the declaration of their path applies. */
  isFallback: boolean;
  /** What the route declares for scripts of other websites. */
  cors: CorsDeclaration | null;
}

/** The path of the routes for requests that match no other. */
export const FALLBACK_PATH = '/{any*}';

const traits = new WeakMap<RequestRoute, RouteTraits>();

export function routeTraits(route: RequestRoute): RouteTraits {
  const known = traits.get(route);
  if (known) return known;
  const { auth, plugins } = route.settings;
  const declared = plugins?.civic;
  const isPublic = !auth || typeof auth === 'string' || auth.mode !== 'required';
  const made = { isOpen: isPublic && !declared?.internal, isTimed: !declared?.untimed, isFallback: route.path === FALLBACK_PATH, cors: declared?.cors ?? null };
  traits.set(route, made);
  return made;
}
