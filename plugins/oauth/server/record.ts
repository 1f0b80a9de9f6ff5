import { clientAddressOf, problemOf, type FetchError, type Reader } from 'civic';
import type { Doer } from 'civic/accounts';
import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { IDENTITY_SCOPE } from '../grants.ts';
import type { OauthIncident } from '../incidents.ts';
import { clientById } from '../store/clients.ts';
import type { AdapterContext } from './adapter.ts';
import type { AuthorizationServer, HandledRequest, Oidc, ProviderParts, ServerContext } from './server.ts';

/** What the store and the fetch of the library call while the library handles a request. */
export interface ProviderHooks extends Pick<AdapterContext, 'endGrant' | 'recordRepeat' | 'rejectReplay' | 'rejectResumed' | 'rejectUnstorable'> {
  /** The requests whose incident is recorded already. */
  recorded: WeakSet<IncomingMessage>;
  recordRefusedFetch(url: string, error: FetchError): Promise<void>;
}

type OidcError = Error & { error?: string; error_description?: string; error_detail?: string };

/** Errors that correct clients do not cause. */
const SUSPICIOUS = new Set([
  'invalid_grant', 'invalid_target', 'invalid_client', 'invalid_redirect_uri', 'invalid_client_metadata', 'unauthorized_client',
]);
const EVENTS = [
  'authorization.error', 'grant.error', 'registration_create.error', 'device_authorization.error', 'revocation.error', 'introspection.error',
] as const;
const MOST_CHARACTERS = 300;

export function createHooks({ civic, grants, recordIncident }: ServerContext, { Provider: OidcProvider, errors }: Oidc, requests: AuthorizationServer['requests']): ProviderHooks {
  const recorded = new WeakSet<IncomingMessage>();
  const context = (): KoaContextWithOIDC | undefined => OidcProvider.ctx as KoaContextWithOIDC | undefined;

  async function record(incident: OauthIncident): Promise<void> {
    const req = context()?.req;
    const handled = req && requests.get(req);
    if (!handled || recorded.has(req)) return;
    recorded.add(req);
    await recordIncident(handled.request, incident);
  }

  /** Ends a grant: the token endpoint calls it for a replayed code or token, the revocation endpoint for the app. */
  async function endGrant(grantId: string): Promise<void> {
    const ctx = context();
    const handled = ctx && requests.get(ctx.req);
    const by: Doer = { account_id: null, address: handled ? clientAddressOf(handled.request) : null };
    const isReplay = ctx?.oidc.route === 'token';
    if (isReplay) {
      const kind = ctx.oidc.params?.['grant_type'] === 'refresh_token' ? 'oauth_token_replayed' : 'oauth_code_replayed';
      await record({ kind, subject: grantId, detail: { client_id: ctx.oidc.client?.clientId } });
    }
    await civic.db.write((tx) => grants.end(tx, grantId, by, isReplay ? 'replayed' : 'revoked_by_app'));
  }

  async function recordRepeat(grantId: string, uses: number): Promise<void> {
    await record({ kind: 'oauth_token_repeated', subject: grantId, detail: { client_id: context()?.oidc.client?.clientId, uses } });
  }

  async function rejectReplay(model: string, grantId: string | null): Promise<never> {
    if (grantId !== null) await endGrant(grantId);
    throw new errors.InvalidGrant(`${model} already used`);
  }

  /** Records requests to private addresses. Other failures, such as a timeout, are no attack. */
  async function recordRefusedFetch(url: string, { code, message }: FetchError): Promise<void> {
    if (code !== 'address_refused') return;
    await record({ kind: 'oauth_request_refused', subject: cut(url), detail: { endpoint: context()?.path, error: code, reason: message } });
  }

  function rejectResumed(): never {
    throw new errors.SessionNotFound('the authorization request was continued already');
  }

  function rejectUnstorable(): never {
    throw new errors.InvalidRequest('the request contains U+0000 or half of a surrogate pair');
  }

  return { recorded, endGrant, recordRepeat, rejectReplay, rejectResumed, rejectUnstorable, recordRefusedFetch };
}

/** Records refused requests before their response is sent. */
export function recordErrors(provider: Provider, { civic, accounts, recordIncident }: ServerContext, { requests, hooks }: ProviderParts): void {
  const incidents = new WeakMap<IncomingMessage, OauthIncident>();

  // The events are emitted synchronously, so they cannot wait for the database: the middleware below does.
  function noteError(ctx: KoaContextWithOIDC, { error: code, error_description, error_detail }: OidcError): void {
    const error = isWrongGrant(error_description) ? 'unauthorized_client' : code;
    const isSuspicious = error !== undefined && (SUSPICIOUS.has(error) || /code_challenge/.test(error_description ?? ''));
    if (!isSuspicious || hooks.recorded.has(ctx.req)) return;
    const { client_id, redirect_uri, resource } = (ctx.oidc.params ?? {}) as Record<string, string | undefined>;
    incidents.set(ctx.req, {
      kind: 'oauth_request_refused',
      subject: cut(ctx.oidc.client?.clientId ?? client_id),
      detail: { endpoint: ctx.path, error, reason: error_detail ?? error_description, redirect_uri: cut(redirect_uri), resource: cut(resource) },
    });
  }

  for (const event of EVENTS) provider.on(event as 'grant.error', noteError);
  provider.on('server_error', (ctx, error) => {
    const handled = requests.get(ctx.req);
    if (handled && problemOf(error)?.status === 503) handled.unavailable = error;
    else civic.log.error({ err: error, path: ctx.path }, 'A request to the authorization server failed');
  });
  provider.use(async (ctx, next) => {
    await next();
    correctGrantError(ctx.body);
    nameIdentityScope(ctx.body);
    addChallenge(ctx as unknown as KoaContextWithOIDC);
    hideSecretHash(ctx as unknown as KoaContextWithOIDC);
    const [incident, handled] = [incidents.get(ctx.req), requests.get(ctx.req)];
    if (handled?.unavailable) {
      // Core sends the response, with status 503 and Retry-After; the library would send 500.
      ctx.respond = false;
      ctx.remove('location');
      return;
    }
    // An error thrown here would be a second response of the library beside the page of this plugin.
    if (incident && handled) await recordIncident(handled.request, incident).catch((error: unknown) => { handled.failure = error as Error; });
    if (handled?.isPage && accounts.pages.session(handled.request) === null) await showError(civic.db.read, ctx as unknown as KoaContextWithOIDC, handled);
  });
}

/**
 * Shows an error to a user who is not signed in, where the library would send the user to the client: anyone can register a client, and
 * a link to this instance would then lead to any website (RFC 9700, section 4.11.2). The page has a link to the client. Clients of the
 * operator and of metadata documents get the error at once, which silent sign-in with `prompt=none` needs.
 */
async function showError(reader: Reader, ctx: KoaContextWithOIDC, handled: HandledRequest): Promise<void> {
  if (!ctx.res.hasHeader('location')) return;
  const location = ctx.response.get('location');
  const { searchParams, hash } = new URL(location, handled.request.url);
  const parameters = hash === '' ? searchParams : new URLSearchParams(hash.slice(1));
  const error = parameters.get('error');
  if (error === null || (await clientById(reader, ctx.oidc.client!.clientId))?.kind !== 'registered') return;
  ctx.respond = false;
  ctx.remove('location');
  handled.refusal = { error, status: 400, description: parameters.get('error_description') ?? undefined, next: location };
}

/** Returns whether a client used a grant type that it did not register. The library responds with `invalid_request`. */
function isWrongGrant(description: string | undefined): boolean {
  return /(?:grant type|device_code) is not allowed for this client$/.test(description ?? '');
}

/** Sets the error code of RFC 6749, section 5.2. */
function correctGrantError(body: unknown): void {
  const error = body as { error?: string; error_description?: string } | null | undefined;
  if (error?.error === 'invalid_request' && isWrongGrant(error.error_description)) error.error = 'unauthorized_client';
}

/** Adds `openid` to the scope of a token response with an ID token: the library names the scopes of the resource only, and none without any. */
function nameIdentityScope(body: unknown): void {
  const tokens = body as { id_token?: string; scope?: string } | null | undefined;
  if (tokens?.id_token !== undefined) tokens.scope = [IDENTITY_SCOPE, tokens.scope].filter(Boolean).join(' ');
}

/** Adds the challenge to a 401 response. The library adds one only if the client sent an `Authorization` header. */
function addChallenge(ctx: KoaContextWithOIDC): void {
  if (ctx.status !== 401 || ctx.res.hasHeader('www-authenticate')) return;
  const { error } = (ctx.body ?? {}) as { error?: string };
  ctx.set('www-authenticate', `Basic realm="${ctx.oidc.provider.issuer}"${error ? `, error="${error}"` : ''}`);
}

/** Shortens a value that a client chose, for the audit record. */
function cut<Value extends string | undefined>(value: Value): Value {
  return value?.slice(0, MOST_CHARACTERS) as Value;
}

/** Removes the secret from the response to a client that reads its registration: the library would send the stored hash. */
function hideSecretHash(ctx: KoaContextWithOIDC): void {
  const isRead = ctx.method === 'GET' && ctx.path.startsWith('/oauth/register/');
  if (isRead && typeof ctx.body === 'object' && ctx.body !== null) delete (ctx.body as Record<string, unknown>)['client_secret'];
}
