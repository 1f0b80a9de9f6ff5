import type { Civic } from 'civic';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { hashOf } from '../secrets.ts';
import { artifact } from '../store/artifacts.ts';
import type { Oidc } from './server.ts';

type Handler = (ctx: KoaContextWithOIDC) => Promise<void>;

/**
 * Returns the provider with a token endpoint that accepts codes without `redirect_uri`. The library requires this parameter; OAuth 2.1
 * removed it, because PKCE binds a code to the client that requested it. A given one must be that of the authorization request.
 */
export function withOptionalRedirectUri(OidcProvider: Oidc['Provider'], { db }: Pick<Civic, 'db'>): Oidc['Provider'] {
  class CivicProvider extends OidcProvider {}

  async function addRedirectUri({ oidc: { params } }: KoaContextWithOIDC): Promise<void> {
    const code = params?.['code'];
    if (typeof code !== 'string' || params!['redirect_uri'] !== undefined) return;
    params!['redirect_uri'] = (await artifact(db.read, 'AuthorizationCode', hashOf(code)))?.payload['redirectUri'] ?? '';
  }

  // The constructor of the library registers its grant types with this method.
  Object.defineProperty(CivicProvider.prototype, 'registerGrantType', {
    value(this: Provider, name: string, handler: Handler, ...parameters: [Set<string>?, Set<string>?]) {
      const completed: Handler = async (ctx) => {
        await addRedirectUri(ctx);
        await handler(ctx);
      };
      OidcProvider.prototype.registerGrantType.call(this, name, (name === 'authorization_code' ? completed : handler) as never, ...parameters);
    },
  });
  return CivicProvider;
}
