import type { Request } from '@hapi/hapi';
import { lazily, type Civic } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { OauthConfig } from '../config.ts';
import type { Grants } from '../grants.ts';
import type { RecordOauthIncident } from '../incidents.ts';
import type { Resources } from '../resources.ts';
import { hashOf, type InstanceSecret } from '../secrets.ts';
import type { SigningKey, SigningKeys } from '../signing.ts';
import { configuration } from './configuration.ts';
import { createTokenFamilies, type TokenFamilies } from './family.ts';
import { createHooks, recordErrors, type ProviderHooks } from './record.ts';
import { adaptedProvider } from './provider.ts';
import type { Refusal } from './refusal.ts';

export type Oidc = Pick<typeof import('oidc-provider'), 'Provider' | 'errors'> & { policy: Pick<typeof import('oidc-provider').interactionPolicy, 'Check' | 'base'> };

/**
 * Loads the library after the start, because only OAuth requests need it. Imports three of its modules, because its index file prints a
 * warning on Node 20, which the tests run on.
 */
const loadOidc = lazily(async (): Promise<Oidc> => {
  const [{ Provider: OidcProvider }, errors, policy] = await Promise.all([
    import('oidc-provider/lib/provider.js'), import('oidc-provider/lib/helpers/errors.js'), import('oidc-provider/lib/helpers/interaction_policy/index.js'),
  ]);
  return { Provider: OidcProvider, errors, policy };
});

export interface ServerContext {
  civic: Civic<OauthConfig>;
  accounts: AccountsService;
  grants: Grants;
  resources: Resources;
  keys: SigningKeys;
  secret: InstanceSecret;
  recordIncident: RecordOauthIncident;
}

/** The authorization server: oidc-provider on the tables of this plugin. */
export interface AuthorizationServer {
  provider(): Promise<Provider>;
  /** Makes the next request build the provider again, with the current signing keys. */
  reset(): void;
  /** The requests that the provider handles, by the request of Node. */
  requests: WeakMap<IncomingMessage, HandledRequest>;
}

export interface HandledRequest {
  request: Request;
  /** The user's browser sent it: errors are shown as a page. Requests of programs get JSON. */
  isPage: boolean;
  /** The error to show, set by `renderError`. */
  refusal: Refusal | null;
  /** Why a refused request could not be recorded. */
  failure: Error | null;
  /** Why the library could not serve it: the database is busy or does not respond. */
  unavailable: Error | null;
}

/** The parts of one provider, which are replaced together. */
export interface ProviderParts {
  oidc: Oidc;
  keys: SigningKey[];
  families: TokenFamilies;
  requests: AuthorizationServer['requests'];
  hooks: ProviderHooks;
}

export function createServer(context: ServerContext): AuthorizationServer {
  let current: Promise<Provider> | null = null;
  const requests: AuthorizationServer['requests'] = new WeakMap();

  async function build(): Promise<Provider> {
    const [oidc, keys] = [await loadOidc(), await context.keys.all()];
    return buildProvider(context, { oidc, keys, families: createTokenFamilies(context.secret), requests, hooks: createHooks(context, oidc, requests) });
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

/** The method with which the library creates the value of a token. */
interface Identified {
  generateTokenId(): string;
}

function buildProvider(context: ServerContext, parts: ProviderParts): Provider {
  const OidcProvider = adaptedProvider(parts.oidc.Provider, context.civic);
  const provider = new OidcProvider(context.civic.url(''), configuration(context, parts));
  // Makes the library read X-Forwarded-*, which `replaceAddress` in mount.ts sets from the configuration.
  provider.proxy = true;
  Object.defineProperty(provider.Client.prototype, 'compareClientSecret', {
    value(this: { clientSecret: string }, given: string) { return timingSafeEqual(Buffer.from(hashOf(given)), Buffer.from(this.clientSecret)); },
  });
  const { generateTokenId } = provider.RefreshToken.prototype as unknown as Identified;
  Object.defineProperty(provider.RefreshToken.prototype, 'generateTokenId', {
    value(this: Identified & { grantId: string }) { return parts.families.mark(generateTokenId.call(this), this.grantId, context.civic.clock.now()); },
  });
  recordErrors(provider, context, parts);
  return provider;
}
