import type { RequestRoute, Server } from '@hapi/hapi';
import type { Schema } from 'joi';
import { routeScopes } from '../http/state.ts';
import type { RouteDeclaration } from '../plugin.ts';
import { isSchema, membersOf } from './schema.ts';

/** What a registered route says of itself, read once for OpenAPI, AsyncAPI, the recorder and the pages. */
export interface PublishedRoute {
  method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  /** As OpenAPI writes it: `/api/places/{place_key}`. */
  path: string;
  id: string;
  /** The plugin it belongs to. */
  owner: string;
  summary: string | null;
  notes: string[];
  declaration: RouteDeclaration;
  access: Access;
  isApi: boolean;
  params: Schema | null;
  paramNames: string[];
  query: Schema | null;
  /** It is read in pages. */
  isList: boolean;
  headers: Schema | null;
  payload: Schema | null;
  /** The media types of its body; empty when it takes none. */
  consumes: string[];
  /** What it answers when all goes well: the schema of the body, or null when there is none to say. */
  successes: Map<number, Schema | null>;
}

/** `open`: nobody is asked; `public`: a credential is optional; `required`: it is not. */
export interface Access {
  mode: 'open' | 'public' | 'required';
  scopes: string[];
}

const METHODS: string[] = ['get', 'put', 'post', 'delete', 'patch'];

/** Every route of the published contract, in the order of paths and methods. */
export function publishedRoutes(server: Server): PublishedRoute[] {
  return describeRoutes(server, isPublished);
}

/** Returns the published routes and those whose messages another specification defines. */
export function routesWithProtocols(server: Server): PublishedRoute[] {
  return describeRoutes(server, (route) => isPublished(route) || route.settings.plugins?.civic?.protocol !== undefined);
}

function describeRoutes(server: Server, isIncluded: (route: RequestRoute) => boolean): PublishedRoute[] {
  return server
    .table()
    .filter(isIncluded)
    .map((route) => describeRoute(server, route))
    .sort((a, b) => compare(a.path, b.path) || METHODS.indexOf(a.method) - METHODS.indexOf(b.method));
}

/** Pages, assets and the routes that catch every other path or preflight are no part of the contract. */
export function isPublished(route: RequestRoute): boolean {
  return METHODS.includes(route.method) && !route.settings.plugins?.civic?.internal;
}

export function describeRoute(server: Server, route: RequestRoute): PublishedRoute {
  const { settings } = route;
  const path = route.path.replace(/\{(\w+)[?*]?\d*\}/g, '{$1}');
  const isRead = route.method === 'get';
  const protocol = settings.plugins?.civic?.protocol;
  const query = protocol?.query ?? settings.validate?.query;
  const payload = protocol?.payload ?? settings.plugins?.civic?.body ?? settings.validate?.payload;
  const takesBody = !isRead && (isSchema(payload) || settings.payload?.output !== 'data');
  return {
    method: route.method as PublishedRoute['method'],
    path,
    id: (settings as { id?: string }).id ?? operationId(route.method, path),
    owner: route.realm.plugin || 'core',
    summary: settings.description ?? null,
    notes: [settings.notes ?? []].flat(),
    declaration: settings.plugins?.civic ?? {},
    access: accessOf(server, route),
    isApi: path === '/api' || path.startsWith('/api/'),
    params: schemaOrNull(settings.validate?.params),
    paramNames: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!),
    query: schemaOrNull(query),
    isList: membersOf(schemaOrNull(query)).has('cursor'),
    headers: schemaOrNull(settings.validate?.headers),
    payload: takesBody ? schemaOrNull(payload) : null,
    consumes: takesBody ? [settings.payload?.allow ?? 'application/json'].flat() : [],
    successes: successesOf(route),
  };
}

/** hapi's types leave out `lookup`, which also knows the default strategy. */
interface HapiAuth {
  lookup(route: RequestRoute): false | undefined | { mode: string };
}

function accessOf(server: Server, route: RequestRoute): Access {
  const auth = (server.auth as unknown as HapiAuth).lookup(route);
  if (!auth) return { mode: 'open', scopes: [] };
  return { mode: auth.mode === 'required' ? 'required' : 'public', scopes: [...new Set(routeScopes(route))].sort() };
}

function successesOf(route: RequestRoute): Map<number, Schema | null> {
  const { schema, status } = (route.settings.response ?? {}) as { schema?: unknown; status?: Record<string, unknown> };
  const successes = new Map<number, Schema | null>();
  for (const [code, body] of Object.entries(status ?? {})) {
    if (Number(code) < 400) successes.set(Number(code), Number(code) === 204 ? null : schemaOrNull(body));
  }
  if (isSchema(schema)) successes.set(200, schema);
  if (successes.size === 0) successes.set(route.method === 'delete' ? 204 : 200, null);
  return successes;
}

function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api\//, '/').split(/[^A-Za-z0-9]+/).filter(Boolean);
  return method + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

function schemaOrNull(value: unknown): Schema | null {
  return isSchema(value) ? value : null;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `GET /api/places (directory)`, for errors. */
export function describeOwner({ method, path, owner }: PublishedRoute): string {
  return `${method.toUpperCase()} ${path} (${owner})`;
}
