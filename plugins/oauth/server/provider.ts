import type { Civic } from 'civic';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { hashOf } from '../secrets.ts';
import { artifact } from '../store/artifacts.ts';
import type { Oidc } from './server.ts';

type Handler = (ctx: KoaContextWithOIDC) => Promise<void>;

interface ResponseModes {
  registerResponseMode(this: Provider, name: string, handler: Handler): void;
}

/**
 * Returns the provider with two differences. Its token endpoint accepts codes without `redirect_uri`: the library requires this parameter;
 * OAuth 2.1 removed it, because PKCE binds a code to the client that requested it. A given one must be that of the authorization request.
 * And it refuses `response_mode=form_post`, whose page needs a script that the CSP of this instance blocks.
 */
export function adaptedProvider(OidcProvider: Oidc['Provider'], { db }: Pick<Civic, 'db'>): Oidc['Provider'] {
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
  const { registerResponseMode } = OidcProvider.prototype as unknown as ResponseModes;
  Object.defineProperty(CivicProvider.prototype, 'registerResponseMode', {
    value(this: Provider, name: string, handler: Handler) {
      if (name !== 'form_post') registerResponseMode.call(this, name, handler);
    },
  });
  return CivicProvider;
}
