import type { Request } from '@hapi/hapi';
import { routeScopes, type Civic } from 'civic';

/** A path whose routes accept access tokens, as a plugin declares it. */
export interface ProtectedPath {
  /** Such as `/api` or `/mcp`. Paths below it belong to the same resource. */
  path: string;
  /** A name for metadata, and for pages without `text`: "The API". */
  name: string;
  /** The plugin and the key of the text in its catalogue that name the path on pages. */
  plugin?: string;
  text?: string;
  /** The scopes that its routes can require. */
  scopes: string[] | (() => string[]);
}

/** A protected resource of RFC 9728. */
export interface Resource extends Pick<ProtectedPath, 'path' | 'name' | 'plugin' | 'text'> {
  /** Its identifier, which is the audience of its tokens. */
  url: string;
  scopes(): string[];
  /** The audiences that its routes accept: `url`, and for the default resource also the public address. */
  audiences: string[];
}

export interface Resources {
  add(declared: ProtectedPath): Resource;
  all(): Resource[];
  /** Returns the resource of requests that name none: the first that another plugin protects, otherwise `/api`. */
  byDefault(): Resource;
  /** Returns the resource of an identifier, with or without a slash at the end; undefined when there is none. */
  named(identifier: string): { resource: Resource; audience: string } | undefined;
  /** Returns the resource that the path of a request belongs to. */
  of(request: Pick<Request, 'path'>): Resource | undefined;
  /** Returns the scopes that the route of a request requires; all of the resource when it names none. */
  neededScopes(request: Pick<Request, 'path' | 'route'>): string[];
}

export const API_PATH = '/api';

export function createResources(civic: Pick<Civic, 'instance' | 'url'>): Resources {
  const resources: Resource[] = [];
  const base = civic.url('');
  const of: Resources['of'] = ({ path }) => resources.find((resource) => path === resource.path || path.startsWith(`${resource.path}/`));
  const byDefault = (): Resource => resources.find(({ path }) => path !== API_PATH) ?? resources[0]!;
  return {
    add({ path, name, plugin, text, scopes }) {
      const url = civic.url(path);
      const isDefault = path !== API_PATH && !resources.some((other) => other.path !== API_PATH);
      const resource: Resource = {
        path, name, plugin, text, url,
        scopes: typeof scopes === 'function' ? scopes : () => scopes,
        audiences: isDefault ? [url, base] : [url],
      };
      resources.push(resource);
      return resource;
    },
    all: () => resources,
    byDefault,
    named(identifier) {
      const audience = identifier.replace(/\/$/, '');
      const resource = resources.find(({ audiences }) => audiences.includes(audience));
      return resource && { resource, audience };
    },
    of,
    neededScopes(request) {
      const needed = routeScopes(request.route);
      return needed.length > 0 ? needed : of(request)?.scopes() ?? [];
    },
  };
}

/** Scopes of OpenID Connect, which belong to no resource. */
const STANDARD_SCOPES = ['openid', 'offline_access'];

/** The scopes of a request. */
export interface RequestedScopes {
  /** The requested scopes of the resource; all of them when the request has no scope. */
  known: string[];
  hasUnknown: boolean;
  /** Whether the app requests the identity of the user (`openid`). An app that requests nothing else gets no scope of the resource. */
  wantsIdentity: boolean;
}

export function requestedScopes(resource: Resource, scope: unknown): RequestedScopes {
  const requested = typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [];
  const wantsIdentity = requested.includes('openid');
  const named = requested.filter((name) => !STANDARD_SCOPES.includes(name));
  if (named.length === 0) return { known: wantsIdentity ? [] : resource.scopes(), hasUnknown: false, wantsIdentity };
  const known = resource.scopes().filter((name) => named.includes(name));
  return { known, hasUnknown: known.length < named.length, wantsIdentity };
}
