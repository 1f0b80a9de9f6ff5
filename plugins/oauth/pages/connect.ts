import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, type Texts, type Tx } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import type { Provider } from 'oidc-provider';
import { createGrant } from '../server/approve.ts';
import { CONSENT_PATH } from '../server/configuration.ts';
import { authenticatedSince } from '../server/prompts.ts';
import { hashOf } from '../secrets.ts';
import type { AuthorizationServer, ServerContext } from '../server/server.ts';
import { artifact, storeDecision } from '../store/artifacts.ts';
import {
  consentPage, destinationOf, grantedScopes, loadAccessRequest, readDecision, recordForgery, type AccessRequest, type ConsentFault, type Destination,
} from './consent.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** An authorization request that waits for the decision of the user. The library calls it an interaction. */
interface PendingRequest {
  interaction: Interaction;
  accessRequest: AccessRequest;
  destination: Destination;
}

const PAGE = { plugins: { civic: { internal: true, untimed: true } } };

/** Returns the routes of the consent page for authorization requests in the browser. */
export function connectRoutes(context: ServerContext, server: AuthorizationServer): ServerRoute[] {
  const { civic, accounts } = context;
  const path = `${CONSENT_PATH}/{uid}`;
  const pagePath = (request: Request): string => `${CONSENT_PATH}/${String(request.params['uid'])}`;

  /** Returns the request that the cookie of this browser names; null when there is none, or the address names another. */
  async function pendingRequest(request: Request): Promise<PendingRequest | null> {
    const provider = await server.provider();
    const interaction = await provider.interactionDetails(request.raw.req, request.raw.res).catch(() => null);
    if (!interaction || interaction.uid !== request.params['uid']) return null;
    const accessRequest = await loadAccessRequest(context, provider, interaction.params);
    return accessRequest && { interaction, accessRequest, destination: destinationOf(String(interaction.params['redirect_uri'])) };
  }

  function show(request: Request, h: ResponseToolkit, t: Texts, visitor: Visitor, { accessRequest, destination }: PendingRequest, fault?: ConsentFault): ResponseObject {
    return consentPage(context, h, t, { accessRequest, visitor, here: pagePath(request), action: pagePath(request), destination, fault });
  }

  /** Returns the earliest authentication that counts for the request of the address. */
  async function since(request: Request): Promise<number> {
    const row = await artifact(civic.db.read, 'Interaction', hashOf(String(request.params['uid'])));
    return row ? authenticatedSince(row.payload['params'] as object, Date.parse(row.created_at), civic.clock.now()) : 0;
  }

  /** Stores the decision, with which the library continues. Returns false when another request has decided. */
  async function decide(tx: Tx, { uid }: Interaction, result: object, params: object = {}): Promise<boolean> {
    const row = await artifact(tx, 'Interaction', hashOf(uid));
    return row !== null && storeDecision(tx, row.key, { ...row.payload, params: { ...row.payload['params'] as object, ...params }, result }, civic.clock.iso());
  }

  /** The page after a form that was sent twice: the browser shows the second response and continues with the first decision. */
  async function decidedPage(h: ResponseToolkit, t: Texts, pending: PendingRequest): Promise<ResponseObject> {
    const { result } = await (await server.provider()).Interaction.find(pending.interaction.uid) ?? {};
    return result ? leavePage(h, t, pending, result.consent !== undefined) : closedPage(h, t);
  }

  const form = formOptions({ untimed: true }, { onReject: (request) => recordForgery(context, request) });

  return [
    {
      method: 'GET', path, options: PAGE,
      handler: accounts.pages.signedIn(async (visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const pending = await pendingRequest(request);
        return pending ? show(request, h, t, visitor, pending) : closedPage(h, t);
      }),
    },
    {
      method: 'POST', path, options: form,
      handler: accounts.pages.confirmed(async (visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const pending = await pendingRequest(request);
        if (!pending) return closedPage(h, t);
        const { interaction, accessRequest, destination } = pending;
        const read = readDecision(request, accessRequest, visitor, civic, t);
        if ('fault' in read) return show(request, h, t, visitor, pending, read.fault);
        // The library issues the code for the scope of the request, so it becomes the granted scope.
        const scope = grantedScopes(accessRequest, read.decision).join(' ');
        const isFirst = await createGrant(context, await server.provider(), {
          accessRequest, decision: read.decision, visitor, destination,
          decide: (tx, grantId) => decide(tx, interaction, { login: { accountId: visitor.account.id, ts: Math.floor(visitor.authenticated_at / 1000) }, consent: { grantId } }, { scope }),
        });
        return isFirst ? leavePage(h, t, pending, true) : decidedPage(h, t, pending);
      }, { back: pagePath, since }),
    },
    {
      method: 'POST', path: `${path}/deny`, options: form,
      handler: accounts.pages.signedIn(async (_visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const pending = await pendingRequest(request);
        if (!pending) return closedPage(h, t);
        const isFirst = await civic.db.write((tx) => decide(tx, pending.interaction, { error: 'access_denied', error_description: 'the user did not approve the request' }));
        return isFirst ? leavePage(h, t, pending, false) : decidedPage(h, t, pending);
      }),
    },
  ];
}

/** The page of a request that the user decided already, or that has expired; also after the button Back. */
function closedPage(h: ResponseToolkit, t: Texts): ResponseObject {
  return h.view('oauth/closed', { title: t('closed.title') }).code(410).header('cache-control', 'private, no-store');
}

type Purpose = Parameters<AccountsService['pages']['purpose']>[0];

/** Describes consent pages to users who must sign in first. */
export function connectPurpose(context: ServerContext, server: AuthorizationServer): Purpose {
  return {
    path: CONSENT_PATH,
    async describe(next, language) {
      const provider = await server.provider();
      const interaction = await provider.Interaction.find(next.slice(CONSENT_PATH.length + 1));
      const accessRequest = interaction && await loadAccessRequest(context, provider, interaction.params);
      if (!accessRequest) return null;
      const t = await context.civic.texts(language);
      const { name } = accessRequest.client;
      return name === null ? t('consent.purpose_unnamed') : t('consent.purpose', { name });
    },
  };
}

/** Returns a page that continues by itself: the CSP `form-action` allows a form to redirect to addresses of this instance only. */
function leavePage(h: ResponseToolkit, t: Texts, { accessRequest, interaction, destination }: PendingRequest, isConnected: boolean): ResponseObject {
  const { pathname, search } = new URL(interaction.returnTo);
  const title = isConnected ? t('leave.title') : t('leave.not_connected');
  return h.view('oauth/leave', { title, isConnected, name: accessRequest.client.name, next: pathname + search, destination })
    .header('cache-control', 'private, no-store').header('referrer-policy', 'no-referrer');
}
