import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions } from 'civic';
import type { Visitor } from 'civic/accounts';
import { createGrant } from '../server/approve.ts';
import { DEVICE_PATH } from '../server/configuration.ts';
import type { AuthorizationServer, ServerContext } from '../server/server.ts';
import { hashOf } from '../secrets.ts';
import { artifactByUserCode, decideDevice, type Artifact } from '../store/artifacts.ts';
import { accessRequest, consentPage, readDecision, type AccessRequest, type ConsentFault } from './consent.ts';

const RATE = { rate: 'oauth_device', untimed: true };
const WRONG = 'This code is not known. It may be mistyped, used already, or older than 15 minutes.';

interface PendingDevice {
  code: string;
  row: Artifact;
  asked: AccessRequest;
}

/** The page on which a user enters the code that a device shows (RFC 8628), and decides. */
export function deviceRoutes(context: ServerContext, server: AuthorizationServer): ServerRoute[] {
  const { civic, accounts, grants, recordIncident } = context;

  async function pending(given: unknown): Promise<PendingDevice | null> {
    const code = String(given ?? '').toUpperCase().replace(/[^A-Z]/g, '');
    const row = code === '' ? null : await artifactByUserCode(civic.db.read, hashOf(code));
    if (!row || Date.parse(row.expires_at!) <= civic.clock.now()) return null;
    const params = row.payload['params'] as Record<string, unknown>;
    const asked = await accessRequest(context, await server.provider(), { ...params, client_id: row.payload['clientId'] });
    return asked && { code: `${code.slice(0, 4)}-${code.slice(4)}`, row, asked };
  }

  const enterPage = (h: ResponseToolkit, given: string, fault?: string): ResponseObject => h.view('oauth/device', { title: 'Connect a device', given, errors: { user_code: fault } })
    .code(fault ? 400 : 200).header('cache-control', 'private, no-store');

  function show(h: ResponseToolkit, visitor: Visitor, { code, asked }: PendingDevice, fault?: ConsentFault): ResponseObject {
    return consentPage(context, h, { asked, visitor, action: `${DEVICE_PATH}/${code}`, userCode: code, fault });
  }

  const done = (h: ResponseToolkit, { asked }: PendingDevice, isConnected: boolean): ResponseObject => h.view('oauth/leave', { title: isConnected ? 'Connected' : 'Not connected', isConnected, isDevice: true, name: asked.client.name })
    .header('cache-control', 'private, no-store');

  const form = formOptions(RATE, { onReject: (request) => recordIncident(request, { kind: 'oauth_consent_forged', account_id: (request.auth.credentials?.account_id as string | undefined) ?? null, detail: { path: DEVICE_PATH } }) });
  const codeOf = (request: Request): string => String(request.params['code']);

  return [
    {
      method: 'GET', path: DEVICE_PATH, options: { plugins: { civic: { internal: true, ...RATE } } },
      handler: accounts.pages.signedIn(async (visitor, request, h) => {
        const given = String(request.query['user_code'] ?? '');
        if (given === '') return enterPage(h, '');
        const found = await pending(given);
        return found ? show(h, visitor, found) : enterPage(h, given, WRONG);
      }),
    },
    {
      method: 'POST', path: `${DEVICE_PATH}/{code}`, options: form,
      handler: accounts.pages.confirmed(async (visitor, request, h) => {
        const found = await pending(codeOf(request));
        if (!found) return enterPage(h, '', WRONG);
        const read = readDecision(request, found.asked, visitor, civic);
        if ('fault' in read) return show(h, visitor, found, read.fault);
        const grantId = await createGrant(context, await server.provider(), { asked: found.asked, decision: read.decision, visitor, host: null });
        const { asked: { resourceIdentifier, wantsIdentity }, row } = found;
        const scope = [...read.decision.scopes, ...(wantsIdentity ? ['openid'] : [])].join(' ');
        const payload = { ...row.payload, accountId: visitor.account.id, grantId, scope, resource: resourceIdentifier, authTime: Math.floor(civic.clock.now() / 1000) };
        const isFirst = await civic.db.write((tx) => decideDevice(tx, row.key, payload, grantId));
        if (isFirst) return done(h, found, true);
        await civic.db.write((tx) => grants.end(tx, grantId, visitor.doer, 'disconnected'));
        return enterPage(h, '', WRONG);
      }, { back: (request) => `${DEVICE_PATH}?user_code=${encodeURIComponent(codeOf(request))}` }),
    },
    {
      method: 'POST', path: `${DEVICE_PATH}/{code}/deny`, options: form,
      handler: accounts.pages.signedIn(async (_visitor, request, h) => {
        const found = await pending(codeOf(request));
        if (!found) return enterPage(h, '', WRONG);
        await civic.db.write((tx) => decideDevice(tx, found.row.key, { ...found.row.payload, error: 'access_denied', errorDescription: 'the user did not approve the request' }, null));
        return done(h, found, false);
      }),
    },
  ];
}
