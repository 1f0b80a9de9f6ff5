import type { FetchError } from 'civic';
import type { Doer } from 'civic/accounts';
import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Incident } from '../incidents.ts';
import type { AdapterContext } from './adapter.ts';
import type { AuthorizationServer, Oidc, ProviderParts, ServerContext } from './server.ts';
import { clientAddressOf } from 'civic';

/** How grants end while the library handles a request, and what is put on record about it. */
export interface Endings extends Pick<AdapterContext, 'endGrant' | 'rejectReplay'> {
  /** Requests whose incident is on record. */
  recorded: WeakSet<IncomingMessage>;
  recordRefusedFetch(url: string, error: FetchError): Promise<void>;
}

type OidcError = Error & { error?: string; error_description?: string; error_detail?: string };

/** Errors that a well-behaved client does not cause. */
const SUSPICIOUS = new Set(['invalid_grant', 'invalid_target', 'invalid_client', 'invalid_redirect_uri', 'invalid_client_metadata', 'unauthorized_client']);
const EVENTS = ['authorization.error', 'grant.error', 'registration_create.error', 'device_authorization.error', 'revocation.error', 'introspection.error'] as const;
const MOST_SHOWN = 300;

export function createEndings({ civic, grants, recordIncident }: ServerContext, { Provider: OidcProvider, errors }: Oidc, requests: AuthorizationServer['requests']): Endings {
  const recorded = new WeakSet<IncomingMessage>();
  const context = (): KoaContextWithOIDC | undefined => OidcProvider.ctx as KoaContextWithOIDC | undefined;

  async function record(incident: Incident): Promise<void> {
    const req = context()?.req;
    const handled = req && requests.get(req);
    if (!handled || recorded.has(req)) return;
    recorded.add(req);
    await recordIncident(handled.request, incident);
  }

  /** By a replay at the token endpoint, or by the app at the revocation endpoint. */
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

  return {
    recorded,
    endGrant,
    async rejectReplay(model, grantId) {
      if (grantId !== null) await endGrant(grantId);
      throw new errors.InvalidGrant(`${model} already used`);
    },
    recordRefusedFetch: (url, { code, message }) => (code === 'address_refused' ? record({ kind: 'oauth_request_refused', subject: url.slice(0, MOST_SHOWN), detail: { endpoint: context()?.path, error: code, reason: message } }) : Promise.resolve()),
  };
}

/** Records refused requests before their response is sent. */
export function recordErrors(provider: Provider, { civic, recordIncident }: ServerContext, { requests, endings }: ProviderParts): void {
  const found = new WeakMap<IncomingMessage, Incident>();

  function note(ctx: KoaContextWithOIDC, { error, error_description, error_detail }: OidcError): void {
    if (error === undefined || !SUSPICIOUS.has(error) || endings.recorded.has(ctx.req)) return;
    const { client_id, redirect_uri, resource } = (ctx.oidc.params ?? {}) as Record<string, string | undefined>;
    const subject = (ctx.oidc.client?.clientId ?? client_id)?.slice(0, MOST_SHOWN);
    found.set(ctx.req, { kind: 'oauth_request_refused', subject, detail: { endpoint: ctx.path, error, reason: error_detail ?? error_description, redirect_uri: redirect_uri?.slice(0, MOST_SHOWN), resource: resource?.slice(0, MOST_SHOWN) } });
  }

  for (const event of EVENTS) provider.on(event as 'grant.error', note);
  provider.on('server_error', (ctx, error) => { civic.log.error({ err: error, path: ctx.path }, 'A request to the authorization server failed'); });
  provider.use(async (ctx, next) => {
    await next();
    hideSecretHash(ctx as unknown as KoaContextWithOIDC);
    const [incident, handled] = [found.get(ctx.req), requests.get(ctx.req)];
    if (incident && handled) await recordIncident(handled.request, incident);
  });
}

/** A client that reads its registration gets no secret: only a hash is stored. */
function hideSecretHash(ctx: KoaContextWithOIDC): void {
  const isRead = ctx.method === 'GET' && ctx.path.startsWith('/oauth/register/');
  if (isRead && typeof ctx.body === 'object' && ctx.body !== null) delete (ctx.body as Record<string, unknown>)['client_secret'];
}
