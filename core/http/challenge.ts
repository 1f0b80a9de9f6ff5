import type { Request } from '@hapi/hapi';
import type { ProblemData } from '../problems.ts';
import { httpState } from './state.ts';

/**
 * Returns the challenge of RFC 6750 for a 401 response, and for a 403 response to a token without the scope; null for other responses.
 * Plugins add parameters with `civic.challenge`, such as `resource_metadata`.
 */
export function bearerChallenge(request: Request, { code, extra }: ProblemData, status: number): string | null {
  if (status === 403 && code === 'insufficient_scope') return challengeWith(request, { error: 'insufficient_scope', scope: neededScopes(request, extra) });
  if (status !== 401) return null;
  // RFC 6750, section 3.1: the challenge of a request without a token, or with another authentication method, has no error code.
  const isWrongToken = code === 'invalid_credentials' && /^bearer\b/i.test(String(request.headers['authorization'] ?? ''));
  return challengeWith(request, isWrongToken ? { error: 'invalid_token' } : {});
}

function challengeWith(request: Request, own: Record<string, string>): string {
  const added = Object.assign({}, ...httpState(request.server).challenges.map((parameters) => parameters(request))) as Record<string, string>;
  // The second `own` makes the parameters of core win; the first puts them in front.
  const parameters = Object.entries({ realm: 'civic', ...own, ...added, ...own });
  return `Bearer ${parameters.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** Returns the scopes of the token and the missing ones: a client that requests a token with only the missing scopes would lose the others. */
function neededScopes({ auth: { credentials } }: Request, extra: ProblemData['extra']): string {
  const granted = credentials?.via === 'token' ? credentials.scope ?? [] : [];
  return [...new Set([...granted, ...((extra?.['scopes'] as string[] | undefined) ?? [])])].join(' ');
}
