import type { Request } from '@hapi/hapi';
import type { Civic } from 'civic';

/** A path that takes access tokens. */
export interface ProtectedPath {
  /** `/api`, `/mcp`. Everything below it belongs to it. */
  path: string;
  /** What is there, for consent pages and metadata: "The API". */
  name: string;
  /** The scopes that its requests can need. */
  scopes: string[] | (() => string[]);
}

/** A protected resource of RFC 9728. */
export interface Resource {
  path: string;
  name: string;
  /** Its identifier, which tokens have as audience. */
  url: string;
  scopes(): string[];
  /** Audiences that its requests accept: its own, and for the default resource the public address itself. */
  audiences: string[];
}

export interface Resources {
  add(declared: ProtectedPath): Resource;
  all(): Resource[];
  /** The resource that a client means that names none: the first that a plugin protects, else `/api`. */
  byDefault(): Resource;
  /** The resource with this identifier; a slash at its end does not matter. Undefined when there is none. */
  named(identifier: string): { resource: Resource; audience: string } | undefined;
  /** The resource that a request is for. */
  of(request: Pick<Request, 'path'>): Resource | undefined;
}

const OWN = '/api';

export function createResources(civic: Pick<Civic, 'instance' | 'url'>): Resources {
  const all: Resource[] = [];
  const base = civic.url('');
  const byDefault = (): Resource => all.find(({ path }) => path !== OWN) ?? all[0]!;
  return {
    add({ path, name, scopes }) {
      const url = civic.url(path);
      const isDefault = path !== OWN && !all.some((one) => one.path !== OWN);
      const resource = { path, name, url, scopes: typeof scopes === 'function' ? scopes : () => scopes, audiences: isDefault ? [url, base] : [url] };
      all.push(resource);
      return resource;
    },
    all: () => all,
    byDefault,
    named(identifier) {
      const audience = identifier.replace(/\/$/, '');
      const resource = all.find(({ audiences }) => audiences.includes(audience));
      return resource && { resource, audience };
    },
    of: ({ path }) => all.find((one) => path === one.path || path.startsWith(`${one.path}/`)),
  };
}
