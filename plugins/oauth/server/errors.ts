import type { Server } from '@hapi/hapi';
import type { RouteDeclaration } from 'civic';
import type { ServerContext } from './server.ts';

/** The error codes of RFC 6749 for what core and other plugins refuse before the library sees a request. */
const CODES: Record<number, string> = { 429: 'temporarily_unavailable', 500: 'server_error', 503: 'temporarily_unavailable' };

/** Clients of the authorization server read `error` and `error_description`, not problems. */
export const oauthErrors: RouteDeclaration['errors'] = ({ status, detail }) => ({ error: CODES[status] ?? 'invalid_request', error_description: detail });

/** Records registrations that a rate limit refused: they do not get as far as the server. */
export function recordFloods(server: Server, { civic, recordIncident }: ServerContext): void {
  server.events.on('response', (request) => {
    if (request.path !== '/oauth/register' || request.raw.res.statusCode !== 429) return;
    recordIncident(request, { kind: 'oauth_registration_refused' }).catch((error: unknown) => { civic.log.error({ err: error }, 'A refused registration could not be recorded'); });
  });
}
