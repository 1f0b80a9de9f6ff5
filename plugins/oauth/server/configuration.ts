import type { Configuration } from 'oidc-provider';
import { GRANT_DAYS } from '../grants.ts';
import { CLIENT_AUTH_METHODS } from '../metadata.ts';
import { grantById } from '../store/grants.ts';
import { createAdapter } from './adapter.ts';
import { adjustClient, type ClientMetadata } from './clients.ts';
import { createClientFetch } from './fetch.ts';
import type { ProviderParts, Refusal, ServerContext } from './server.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The pages on which users decide. */
export const CONSENT_PATH = '/connect';
export const DEVICE_PATH = '/device';
const DECISION_SECONDS = 15 * MINUTE;
const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true } as const;

/** The configuration of oidc-provider. What is not here has the library's default. */
export function configuration(context: ServerContext, parts: ProviderParts): Configuration {
  const { civic, accounts, resources, secret } = context;
  const { config } = civic;
  const { errors } = parts.oidc;
  return {
    adapter: (model: string) => createAdapter(model, { civic, ...parts.endings }),
    jwks: { keys: parts.keys as never },
    cookies: {
      keys: [secret.deriveKey('cookies').toString('hex')],
      names: { session: 'civic_oauth', interaction: 'civic_oauth_request', resume: 'civic_oauth_resume' },
      long: COOKIE,
      short: COOKIE,
    },
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    clientAuthMethods: CLIENT_AUTH_METHODS as never,
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], id_token_signed_response_alg: 'ES256', token_endpoint_auth_method: 'client_secret_basic' },
    extraClientMetadata: {
      // One property is needed for the validator to be called at all; this one is of RFC 7591.
      properties: ['software_id'],
      validator: (_ctx, _key, _value, metadata) => { adjustClient(metadata as unknown as ClientMetadata, errors); },
    },
    clockTolerance: 0,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    routes: { authorization: '/oauth/authorize', token: '/oauth/token', registration: '/oauth/register', revocation: '/oauth/revoke', introspection: '/oauth/introspect', device_authorization: '/oauth/device', code_verification: DEVICE_PATH, jwks: '/oauth/jwks' },
    interactions: { url: (_ctx, { uid }) => `${new URL(civic.instance.public_url).pathname.replace(/\/$/, '')}${CONSENT_PATH}/${uid}` },
    ttl: {
      AccessToken: config.access_minutes * MINUTE, AuthorizationCode: MINUTE, RefreshToken: config.refresh_days * DAY, Grant: GRANT_DAYS * DAY,
      Interaction: DECISION_SECONDS, Session: DECISION_SECONDS, DeviceCode: DECISION_SECONDS, IdToken: HOUR,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    // Consent is asked for every time; the only grant is the one that the consent page has just created.
    loadExistingGrant: async (ctx) => (ctx.oidc.result?.consent?.grantId ? ctx.oidc.provider.Grant.find(ctx.oidc.result.consent.grantId) : undefined),
    async findAccount(_ctx, id) {
      const account = await accounts.account(civic.db.read, id);
      return account && account.disabled_at === null ? { accountId: id, claims: async () => ({ sub: id }) } : undefined;
    },
    async extraTokenClaims(_ctx, token) {
      const grant = 'grantId' in token && token.grantId ? await grantById(civic.db.read, token.grantId) : null;
      return grant ? { workspace_id: grant.workspace_id } : undefined;
    },
    clientBasedCORS: () => true,
    fetch: createClientFetch(civic.fetch, parts.endings.recordRefusedFetch),
    renderError(ctx, out) {
      const handled = parts.requests.get(ctx.req);
      ctx.body = out;
      if (!handled?.isPage) return;
      ctx.respond = false;
      handled.refusal = { ...(out as Omit<Refusal, 'status'>), status: ctx.status };
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      introspection: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', deviceInfo: () => ({}) },
      registration: {
        enabled: config.registration.enabled,
        issueRegistrationAccessToken: true,
      },
      clientIdMetadataDocument: {
        enabled: config.metadata_documents.enabled,
        ack: 'draft-02',
        allowFetch: async (_ctx: unknown, id: string) => config.metadata_documents.hosts.length === 0 || config.metadata_documents.hosts.includes(new URL(id).hostname),
      } as never,
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, several) => [several ?? resources.byDefault().url].flat()[0]!,
        useGrantedResource: async () => true,
        async getResourceServerInfo(_ctx, identifier) {
          const found = resources.named(identifier);
          if (!found) throw new errors.InvalidTarget();
          return { scope: found.resource.scopes().join(' '), audience: found.audience, accessTokenFormat: 'opaque', accessTokenTTL: config.access_minutes * MINUTE };
        },
      },
    },
  };
}
