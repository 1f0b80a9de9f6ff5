import { basePathOf } from 'civic';
import type { Configuration } from 'oidc-provider';
import { GRANT_DAYS, hasEnded, hasPermissions } from '../grants.ts';
import { CLIENT_AUTH_METHODS } from '../metadata.ts';
import { requestedScopes } from '../resources.ts';
import { grantById, type GrantRow } from '../store/grants.ts';
import { createAdapter } from './adapter.ts';
import { adjustClient, type ClientMetadata } from './clients.ts';
import { createClientFetch, documentPolicy } from './fetch.ts';
import { promptPolicy } from './prompts.ts';
import { refusalOf } from './refusal.ts';
import type { ProviderParts, ServerContext } from './server.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The pages on which users decide. */
export const CONSENT_PATH = '/connect';
export const DEVICE_PATH = '/device';
const DECISION_SECONDS = 15 * MINUTE;
/** The endpoints at which a client requests scopes. */
const REQUESTS = ['authorization', 'device_authorization'];
const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true } as const;

const ROUTES: Configuration['routes'] = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  device_authorization: '/oauth/device',
  code_verification: DEVICE_PATH,
  jwks: '/oauth/jwks',
};

/** Returns the configuration of oidc-provider. Options that are not here have the default of the library. */
export function configuration(context: ServerContext, parts: ProviderParts): Configuration {
  const { civic, secret } = context;
  return {
    adapter: (model: string) => createAdapter(model, { civic, families: parts.families, ...parts.hooks }),
    jwks: { keys: parts.keys as never },
    cookies: {
      keys: [secret.deriveKey('cookies').toString('hex')],
      names: { session: 'civic_oauth', interaction: 'civic_oauth_request', resume: 'civic_oauth_resume' },
      long: COOKIE,
      short: COOKIE,
    },
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub', 'auth_time'] },
    responseTypes: ['code'],
    clockTolerance: 0,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    routes: ROUTES,
    interactions: {
      policy: promptPolicy(parts.oidc.policy, context, parts.requests),
      url: (_ctx, { uid }) => `${basePathOf(civic.instance.public_url)}${CONSENT_PATH}/${uid}`,
    },
    clientBasedCORS: () => true,
    fetch: createClientFetch({ fetch: civic.fetch, clock: civic.clock, onRefused: parts.hooks.recordRefusedFetch }),
    renderError(ctx, out, error) {
      const handled = parts.requests.get(ctx.req);
      ctx.body = out;
      if (!handled?.isPage) return;
      ctx.respond = false;
      handled.refusal = refusalOf(ctx, out, error);
    },
    ...clientOptions(parts),
    ...tokenOptions(context, parts),
    features: features(context, parts),
  };
}

function clientOptions({ oidc: { errors } }: ProviderParts): Configuration {
  return {
    clientAuthMethods: CLIENT_AUTH_METHODS as never,
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'RS256',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    extraClientMetadata: {
      // The library calls the validator only if there is a property. RFC 7591 defines this one.
      properties: ['software_id'],
      validator: (_ctx, _key, _value, metadata) => { adjustClient(metadata as unknown as ClientMetadata, errors); },
    },
  };
}

function tokenOptions({ civic, accounts }: ServerContext, { oidc: { errors } }: ProviderParts): Configuration {
  const { config, db } = civic;
  const grantOf = async (token: object): Promise<GrantRow | null> => {
    const { grantId } = token as { grantId?: string };
    return grantId === undefined ? null : grantById(db.read, grantId);
  };
  return {
    ttl: {
      AccessToken: config.access_minutes * MINUTE,
      AuthorizationCode: MINUTE,
      RefreshToken: config.refresh_days * DAY,
      Grant: GRANT_DAYS * DAY,
      Interaction: DECISION_SECONDS,
      Session: DECISION_SECONDS,
      DeviceCode: DECISION_SECONDS,
      IdToken: HOUR,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    // Every authorization asks for consent, so the only grant is the one that the consent page has just created.
    async loadExistingGrant(ctx) {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined;
    },
    async findAccount(_ctx, id, token) {
      const delegate = await accounts.delegate(db.read, id);
      if (!delegate) return undefined;
      const grant = token && await grantOf(token);
      if (grant && hasEnded(grant, delegate)) throw new errors.InvalidGrant('the membership in which the app was connected has ended');
      return { accountId: id, claims: async () => ({ sub: id }) };
    },
    async extraTokenClaims(_ctx, token) {
      const grant = await grantOf(token);
      return grant && hasPermissions(grant) ? { workspace_id: grant.workspace_id } : undefined;
    },
  };
}

function features({ civic, resources }: ServerContext, { oidc: { errors } }: ProviderParts): Configuration['features'] {
  const { config } = civic;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    introspection: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', deviceInfo: () => ({}) },
    registration: { enabled: config.registration.enabled, issueRegistrationAccessToken: true },
    clientIdMetadataDocument: {
      enabled: config.metadata_documents.enabled,
      ack: 'draft-02',
      // At least as long as the user may take to decide: one authorization reads the document once.
      cacheDuration: { min: DECISION_SECONDS, max: DAY },
      allowFetch: documentPolicy(civic),
    } as never,
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_ctx, _client, several) => [several ?? resources.byDefault().url].flat()[0]!,
      useGrantedResource: async () => true,
      async getResourceServerInfo(ctx, identifier) {
        const found = resources.named(identifier);
        // The user approves one resource; the consent page names it.
        if (!found || [ctx.oidc.params?.['resource'] ?? []].flat().length > 1) throw new errors.InvalidTarget();
        const scope = ctx.oidc.params?.['scope'];
        const { known, hasUnknown } = requestedScopes(found.resource, scope);
        if (REQUESTS.includes(ctx.oidc.route) && hasUnknown && known.length === 0) {
          throw new errors.InvalidScope(`the resource has none of the requested scopes: ${String(scope)}`, String(scope));
        }
        return {
          scope: found.resource.scopes().join(' '),
          audience: found.audience,
          accessTokenFormat: 'opaque',
          accessTokenTTL: config.access_minutes * MINUTE,
        };
      },
    },
  };
}
