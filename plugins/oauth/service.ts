import type { Server } from '@hapi/hapi';
import type { Civic } from 'civic';
import { createBearer, type BearerResolver } from './bearer.ts';
import type { OauthConfig } from './config.ts';
import { createGrants } from './grants.ts';
import { MOST_INCIDENTS_PER_MINUTE } from './incidents.ts';
import { metadataUrl, resourceRoutes, serverRoutesFor } from './metadata.ts';
import { API_PATH, createResources, type ProtectedPath } from './resources.ts';
import { createInstanceSecret } from './secrets.ts';
import { createServer, type AuthorizationServer, type ServerContext } from './server/server.ts';
import { createSigningKeys } from './signing.ts';

/** The service of this plugin for other plugins. */
export interface OauthService {
  /**
   * Makes a path a protected resource: its routes accept access tokens, its metadata is published, and its challenges name the metadata.
   * A token must have the resource as audience; the first path that another plugin protects also accepts the public address as
   * audience. Call it in `register`.
   */
  protect(path: ProtectedPath): void;
}

declare module 'civic' {
  interface Services { oauth: OauthService }
}

/** The parts of the plugin, for its routes, jobs, commands and checks. */
export interface Oauth extends ServerContext {
  server: AuthorizationServer;
  bearer: BearerResolver;
  service: OauthService;
}

export function createOauth(civic: Civic<OauthConfig>, hapi: Server): Oauth {
  const accounts = civic.service('accounts');
  const resources = createResources(civic);
  const secret = createInstanceSecret({ key: civic.config.key, dataDir: civic.instance.data_dir });
  const keys = createSigningKeys({ civic, secret, onChange: () => { server.reset(); } });
  const recordIncident = accounts.incidents(MOST_INCIDENTS_PER_MINUTE);
  const context: ServerContext = { civic, accounts, grants: createGrants(civic, accounts), resources, keys, secret, recordIncident };
  const server = createServer(context);

  function protect(declared: ProtectedPath): void {
    const resource = resources.add(declared);
    hapi.route([...resourceRoutes(context, resource), ...serverRoutesFor(context, resource.path)]);
  }

  civic.challenge((request) => {
    const resource = resources.of(request);
    return resource ? { resource_metadata: metadataUrl({ civic, resource }), scope: resources.neededScopes(request).join(' ') } : null;
  });
  protect({ path: API_PATH, name: 'The API', plugin: 'oauth', text: 'resource.name', scopes: () => [...civic.vocabulary.scopes.keys()] });
  return { ...context, server, bearer: createBearer(context), service: { protect } };
}
