import type { Request } from '@hapi/hapi';
import { lazily, type Civic } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { OauthConfig } from '../config.ts';
import type { Grants } from '../grants.ts';
import type { RecordIncident } from '../incidents.ts';
import type { Resources } from '../resources.ts';
import { hashOf, type InstanceSecret } from '../secrets.ts';
import type { SigningKey, SigningKeys } from '../signing.ts';
import { configuration } from './configuration.ts';
import { createEndings, recordErrors, type Endings } from './record.ts';

export type Oidc = Pick<typeof import('oidc-provider'), 'Provider' | 'errors'>;

/**
 * Loads the library. Only requests of OAuth need it, so a start does not wait for it. Its index file would print a warning on Node 20, which
 * the tests run it on.
 */
const loadOidc = lazily(async (): Promise<Oidc> => {
  const [{ Provider: OidcProvider }, errors] = await Promise.all([import('oidc-provider/lib/provider.js'), import('oidc-provider/lib/helpers/errors.js')]);
  return { Provider: OidcProvider, errors };
});

export interface ServerContext {
  civic: Civic<OauthConfig>;
  accounts: AccountsService;
  grants: Grants;
  resources: Resources;
  keys: SigningKeys;
  secret: InstanceSecret;
  recordIncident: RecordIncident;
}

/** The authorization server: oidc-provider over our store. */
export interface AuthorizationServer {
  provider(): Promise<Provider>;
  /** The next request builds the provider anew, with the keys of that moment. */
  reset(): void;
  /** The requests that the provider handles, by their raw ones. */
  requests: WeakMap<IncomingMessage, HandledRequest>;
}

export interface HandledRequest {
  request: Request;
  /** Errors that cannot be sent to the client are shown to the user; elsewhere programs get JSON. */
  isPage: boolean;
  /** Set by the library: the error to show. */
  refusal: Refusal | null;
}

/** An error that cannot be sent to the client, because the client or its redirect URI is not known. */
export interface Refusal {
  error: string;
  error_description?: string;
  status: number;
}

/** What a provider is built of besides the context. */
export interface ProviderParts {
  oidc: Oidc;
  keys: SigningKey[];
  requests: AuthorizationServer['requests'];
  endings: Endings;
}

export function createServer(context: ServerContext): AuthorizationServer {
  let current: Promise<Provider> | null = null;
  const requests: AuthorizationServer['requests'] = new WeakMap();

  async function build(): Promise<Provider> {
    const [oidc, keys] = [await loadOidc(), await context.keys.all()];
    return buildProvider(context, { oidc, keys, requests, endings: createEndings(context, oidc, requests) });
  }

  return {
    requests,
    provider: () => (current ??= build().catch((error: unknown) => {
      current = null;
      throw error;
    })),
    reset() { current = null; },
  };
}

function buildProvider(context: ServerContext, parts: ProviderParts): Provider {
  const provider = new parts.oidc.Provider(context.civic.url(''), configuration(context, parts));
  // The mount sets the headers that this trusts, from the configuration.
  provider.proxy = true;
  Object.defineProperty(provider.Client.prototype, 'compareClientSecret', {
    value(this: { clientSecret: string }, given: string) { return timingSafeEqual(Buffer.from(hashOf(given)), Buffer.from(this.clientSecret)); },
  });
  recordErrors(provider, context, parts);
  return provider;
}
