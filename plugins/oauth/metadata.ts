import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import { basePathOf, type Civic, type RouteDeclaration } from 'civic';
import type { OauthConfig } from './config.ts';
import type { Resource, Resources } from './resources.ts';
import { ALGORITHMS, type SigningKeys } from './signing.ts';

export const SERVER_PATH = '/.well-known/oauth-authorization-server';
export const RESOURCE_PATH = '/.well-known/oauth-protected-resource';
const OPENID_PATH = '/.well-known/openid-configuration';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const GRANT_TYPES = ['authorization_code', 'refresh_token', DEVICE_GRANT];
export const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const SIGNING_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA'];

/** Browser-based clients read these documents, some of them with an expired token in the `Authorization` header. */
const DECLARATION: RouteDeclaration = { internal: true, ownCredentials: true, cors: { headers: ['MCP-Protocol-Version'] } };

export interface MetadataContext {
  civic: Civic<OauthConfig>;
  resources: Resources;
  keys: SigningKeys;
}

/** Returns the metadata of the authorization server (RFC 8414), which is also the document of OpenID Connect discovery. */
export function serverMetadata({ civic: { url, config }, resources }: Omit<MetadataContext, 'keys'>): Record<string, unknown> {
  const scopes = new Set(resources.all().flatMap((resource) => resource.scopes()));
  return {
    issuer: url(''),
    authorization_endpoint: url('/oauth/authorize'),
    token_endpoint: url('/oauth/token'),
    jwks_uri: url('/oauth/jwks'),
    ...(config.registration.enabled && { registration_endpoint: url('/oauth/register') }),
    revocation_endpoint: url('/oauth/revoke'),
    introspection_endpoint: url('/oauth/introspect'),
    device_authorization_endpoint: url('/oauth/device'),
    // Every client gets a refresh token without offline_access. Clients that see it here repeat it in each refresh, although it was not granted.
    scopes_supported: [...scopes, 'openid'],
    response_types_supported: ['code'],
    // The library also knows form_post, whose page would need a script that the Content-Security-Policy rejects.
    response_modes_supported: ['query', 'fragment'],
    grant_types_supported: GRANT_TYPES,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: config.metadata_documents.enabled,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ALGORITHMS,
    service_documentation: url('/docs'),
  };
}

export interface ResourceDocument {
  civic: Pick<Civic, 'url' | 'instance'>;
  resource: Resource;
  /** The audience that the address of the document belongs to. */
  identifier: string;
}

/** Returns the metadata of a protected resource (RFC 9728). */
export function resourceMetadata({ civic: { url, instance }, resource, identifier }: ResourceDocument): Record<string, unknown> {
  return {
    resource: identifier,
    resource_name: `${instance.name}: ${resource.name}`,
    authorization_servers: [url('')],
    bearer_methods_supported: ['header'],
    scopes_supported: resource.scopes(),
    resource_documentation: url('/docs'),
  };
}

/** Returns the paths of a document. RFC 8414 puts the path of the public address behind the well-known part; a proxy may remove that path. */
function documentPaths(wellKnown: string, path: string, civic: Pick<Civic, 'instance'>): string[] {
  return [...new Set([wellKnown + path, wellKnown + basePathOf(civic.instance.public_url) + path])];
}

function documentRoute(path: string, handler: Lifecycle.Method, more: RouteDeclaration = {}): ServerRoute {
  return { method: 'GET', path, options: { auth: { mode: 'try' }, plugins: { civic: { ...DECLARATION, ...more } } }, handler };
}

/** Returns the address of the metadata document of a resource, for challenges. */
export function metadataUrl({ civic, resource }: Pick<ResourceDocument, 'civic' | 'resource'>): string {
  return `${new URL(civic.instance.public_url).origin}${RESOURCE_PATH}${basePathOf(civic.instance.public_url)}${resource.path}`;
}

export function resourceRoutes(context: Pick<MetadataContext, 'civic'>, resource: Resource): ServerRoute[] {
  const { civic } = context;
  const base = civic.url('');
  return resource.audiences.flatMap((identifier) => documentPaths(RESOURCE_PATH, identifier.slice(base.length), civic)
    .map((path) => documentRoute(path, () => resourceMetadata({ civic, resource, identifier }))));
}

/** Returns the routes of the server metadata for a resource path. Clients that know only the address of the resource request it there. */
export function serverRoutesFor(context: MetadataContext, path: string): ServerRoute[] {
  return [SERVER_PATH, OPENID_PATH].flatMap((wellKnown) => documentPaths(wellKnown, path, context.civic))
    .map((documentPath) => documentRoute(documentPath, () => serverMetadata(context)));
}

export function metadataRoutes(context: MetadataContext): ServerRoute[] {
  return [
    ...serverRoutesFor(context, ''),
    documentRoute('/oauth/jwks', async () => ({ keys: await context.keys.published() }), { untimed: true }),
  ];
}
