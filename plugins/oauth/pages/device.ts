import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, type Texts } from 'civic';
import type { Visitor } from 'civic/accounts';
import { createGrant } from '../server/approve.ts';
import { DEVICE_PATH } from '../server/configuration.ts';
import { authenticatedSince } from '../server/prompts.ts';
import type { AuthorizationServer, ServerContext } from '../server/server.ts';
import { hashOf } from '../secrets.ts';
import { artifactByUserCode, storeDeviceDecision, type Artifact } from '../store/artifacts.ts';
import { consentPage, grantedScopes, loadAccessRequest, readDecision, recordForgery, type AccessRequest, type ConsentFault, type Decision } from './consent.ts';

const DECLARATION = { rate: 'oauth_device', untimed: true };

/** A device whose code a user has entered and that waits for the decision. */
interface PendingDevice {
  /** As the device shows it. */
  code: string;
  row: Artifact;
  accessRequest: AccessRequest;
}

/** Returns the routes of the page on which a user enters the code that a device shows (RFC 8628), and decides. */
export function deviceRoutes(context: ServerContext, server: AuthorizationServer): ServerRoute[] {
  const { civic, accounts } = context;

  async function pendingDevice(given: unknown): Promise<PendingDevice | null> {
    const code = String(given ?? '').toUpperCase().replace(/[^A-Z]/g, '');
    const row = code === '' ? null : await artifactByUserCode(civic.db.read, hashOf(code));
    if (!row || Date.parse(row.expires_at!) <= civic.clock.now()) return null;
    const params = row.payload['params'] as Record<string, unknown>;
    const accessRequest = await loadAccessRequest(context, await server.provider(), { ...params, client_id: row.payload['clientId'] });
    return accessRequest && { code: `${code.slice(0, 4)}-${code.slice(4)}`, row, accessRequest };
  }

  function show(h: ResponseToolkit, t: Texts, visitor: Visitor, { code, accessRequest }: PendingDevice, fault?: ConsentFault): ResponseObject {
    return consentPage(context, h, t, { accessRequest, visitor, here: pageOf(code), action: DEVICE_PATH, userCode: code, fault });
  }

  /** Returns the earliest authentication that counts for the device of the form. */
  async function since(request: Request): Promise<number> {
    const { row } = await pendingDevice(codeOf(request)) ?? {};
    return row ? authenticatedSince(row.payload['params'] as object, Date.parse(row.created_at), civic.clock.now()) : 0;
  }

  /** Returns false when another request decided about the device at the same time. */
  async function approve({ accessRequest, row }: PendingDevice, decision: Decision, visitor: Visitor): Promise<boolean> {
    const approved = {
      ...row.payload,
      accountId: visitor.account.id,
      scope: grantedScopes(accessRequest, decision).join(' '),
      resource: accessRequest.resourceIdentifier,
      authTime: Math.floor(visitor.authenticated_at / 1000),
    };
    return createGrant(context, await server.provider(), {
      accessRequest, decision, visitor, destination: null,
      decide: (tx, grantId) => storeDeviceDecision(tx, row.key, { ...approved, grantId }, grantId),
    });
  }

  const form = formOptions(DECLARATION, { onReject: (request) => recordForgery(context, request) });

  return [
    {
      method: 'GET', path: DEVICE_PATH, options: { plugins: { civic: { internal: true, ...DECLARATION } } },
      handler: accounts.pages.signedIn(async (visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const given = String(request.query['user_code'] ?? '');
        if (given === '') return codePage(h, t);
        const pending = await pendingDevice(given);
        return pending ? show(h, t, visitor, pending) : unknownCode(h, t, given);
      }),
    },
    {
      method: 'POST', path: DEVICE_PATH, options: form,
      handler: accounts.pages.confirmed(async (visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const pending = await pendingDevice(codeOf(request));
        if (!pending) return unknownCode(h, t);
        const read = readDecision(request, pending.accessRequest, visitor, civic, t);
        if ('fault' in read) return show(h, t, visitor, pending, read.fault);
        return await approve(pending, read.decision, visitor) ? donePage(h, t, pending, true) : unknownCode(h, t);
      }, { back: (request) => pageOf(codeOf(request)), since }),
    },
    {
      method: 'POST', path: `${DEVICE_PATH}/deny`, options: form,
      handler: accounts.pages.signedIn(async (_visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const pending = await pendingDevice(codeOf(request));
        if (!pending) return unknownCode(h, t);
        const payload = { ...pending.row.payload, error: 'access_denied', errorDescription: 'the user did not approve the request' };
        const isFirst = await civic.db.write((tx) => storeDeviceDecision(tx, pending.row.key, payload, null));
        return isFirst ? donePage(h, t, pending, false) : unknownCode(h, t);
      }),
    },
  ];
}

/** Returns the code of a form. It is not in the path, which is logged. */
function codeOf(request: Request): string {
  return String((request.payload as { user_code?: unknown } | null)?.user_code ?? '');
}

/** Returns the path of the consent page for a code. */
function pageOf(code: string): string {
  return `${DEVICE_PATH}?user_code=${encodeURIComponent(code)}`;
}

/** The page with the field for the code. */
function codePage(h: ResponseToolkit, t: Texts, given = '', fault?: string): ResponseObject {
  return h.view('oauth/device', { title: t('device.title'), given, errors: { user_code: fault } })
    .code(fault ? 400 : 200).header('cache-control', 'private, no-store');
}

function unknownCode(h: ResponseToolkit, t: Texts, given?: string): ResponseObject {
  return codePage(h, t, given, t('device.unknown'));
}

function donePage(h: ResponseToolkit, t: Texts, { accessRequest }: PendingDevice, isConnected: boolean): ResponseObject {
  const title = isConnected ? t('leave.title') : t('leave.not_connected');
  return h.view('oauth/leave', { title, isConnected, isDevice: true, name: accessRequest.client.name }).header('cache-control', 'private, no-store');
}
