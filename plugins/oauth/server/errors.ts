import type { Server } from '@hapi/hapi';
import type { RouteDeclaration } from 'civic';
import type { ServerContext } from './server.ts';

/** The error codes of RFC 6749 for requests that core or another plugin rejects before the library handles them. */
const CODES: Record<number, string> = { 429: 'temporarily_unavailable', 500: 'server_error', 503: 'temporarily_unavailable' };

/** Returns the body of an error as RFC 6749 defines it. OAuth clients do not read problem+json. */
export const oauthErrors: RouteDeclaration['errors'] = ({ status, detail }) => ({ error: CODES[status] ?? 'invalid_request', error_description: detail });

/** Records registrations that a rate limit rejected, which the library never handles. */
export function recordFloods(server: Server, { civic, recordIncident }: ServerContext): void {
  server.events.on('response', (request) => {
    if (request.path !== '/oauth/register' || request.raw.res.statusCode !== 429) return;
    recordIncident(request, { kind: 'oauth_registration_refused' })
      .catch((error: unknown) => { civic.log.error({ err: error }, 'A refused registration could not be recorded'); });
  });
}
