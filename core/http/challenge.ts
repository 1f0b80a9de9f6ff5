import type { Request } from '@hapi/hapi';
import type { ProblemData } from '../problems.ts';
import { httpState } from './state.ts';

/**
 * Returns the challenge of RFC 6750 for a 401, and for a 403 because of a scope; null for other responses. Plugins add parameters with
 * `civic.challenge`, such as the address of a resource's metadata.
 */
export function bearerChallenge(request: Request, { code, extra }: ProblemData, status: number): string | null {
  if (status === 403 && code === 'insufficient_scope') return challengeOf(request, { error: 'insufficient_scope', scope: scopesToAskFor(request, extra) });
  if (status !== 401) return null;
  // RFC 6750, section 3.1: a request without a token gets no error code.
  const isWrongToken = code === 'invalid_credentials' && request.headers['authorization'] !== undefined;
  return challengeOf(request, isWrongToken ? { error: 'invalid_token' } : {});
}

function challengeOf(request: Request, own: Record<string, string>): string {
  const added = Object.assign({}, ...httpState(request.server).challenges.map((parameters) => parameters(request))) as Record<string, string>;
  return `Bearer ${Object.entries({ realm: 'civic', ...own, ...added, ...own }).map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** The scopes of the token come with those that are missing: some clients ask for exactly these, and would lose the others. */
function scopesToAskFor({ auth: { credentials } }: Request, extra: ProblemData['extra']): string {
  const granted = credentials?.via === 'token' ? credentials.scope ?? [] : [];
  return [...new Set([...granted, ...((extra?.['scopes'] as string[] | undefined) ?? [])])].join(' ');
}
