import type { KoaContextWithOIDC, interactionPolicy } from 'oidc-provider';
import type { Oidc, AuthorizationServer, ServerContext } from './server.ts';

/** The parameters of OpenID Connect that require an authentication. */
interface AuthenticationParameters {
  prompt?: unknown;
  max_age?: unknown;
}

/**
 * Returns the earliest authentication that counts for a request, in milliseconds. One after the request is always enough, so that a user who
 * signs in for it is not asked twice.
 */
export function authenticatedSince({ prompt, max_age: maxAge }: AuthenticationParameters, requestedAt: number, now: number): number {
  if (String(prompt ?? '').split(' ').includes('login')) return requestedAt;
  return maxAge === undefined ? 0 : Math.min(requestedAt, now - Number(maxAge) * 1000);
}

/** Returns the policy of the library with the error of `prompt=none` for a signed-in user: the library knows no session of the user. */
export function promptPolicy({ Check, base }: Oidc['policy'], { civic, accounts }: ServerContext, requests: AuthorizationServer['requests']): interactionPolicy.DefaultPolicy {
  function needsOnlyConsent({ req, oidc }: KoaContextWithOIDC): boolean {
    const handled = requests.get(req);
    const session = handled && !oidc.result ? accounts.pages.session(handled.request) : null;
    if (!session) return false;
    const hint = oidc.entities.IdTokenHint as { payload: { sub?: string } } | undefined;
    const now = civic.clock.now();
    return session.authenticated_at >= authenticatedSince(oidc.params ?? {}, now, now) && (!hint || hint.payload.sub === session.account_id);
  }

  const policy = base();
  // The library reports the error of the first check.
  policy.get('login')!.checks.add(new Check('no_consent', 'every authorization needs the consent of the user', 'consent_required', needsOnlyConsent), 0);
  return policy;
}
