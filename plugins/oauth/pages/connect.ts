import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions } from 'civic';
import type { Visitor } from 'civic/accounts';
import type { Provider } from 'oidc-provider';
import { createGrant } from '../server/approve.ts';
import { CONSENT_PATH } from '../server/configuration.ts';
import { refusalPage } from '../server/mount.ts';
import type { AuthorizationServer, ServerContext } from '../server/server.ts';
import { accessRequest, consentPage, destinationOf, readDecision, type AccessRequest, type ConsentFault } from './consent.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

interface Pending {
  interaction: Interaction;
  asked: AccessRequest;
}

const PAGE = { plugins: { civic: { internal: true, untimed: true } } };
const GONE = { error: 'invalid_request', error_description: 'this request was decided already, or has expired', status: 410 };

/** The consent page of an authorization request in the browser. */
export function connectRoutes(context: ServerContext, server: AuthorizationServer): ServerRoute[] {
  const { civic, accounts, recordIncident } = context;
  const path = `${CONSENT_PATH}/{uid}`;
  const here = (request: Request): string => `${CONSENT_PATH}/${String(request.params['uid'])}`;

  /** The request that the cookie of this browser belongs to; null when there is none, or it is not the one in the address. */
  async function pending(request: Request): Promise<Pending | null> {
    const provider = await server.provider();
    const interaction = await provider.interactionDetails(request.raw.req, request.raw.res).catch(() => null);
    if (!interaction || interaction.uid !== request.params['uid']) return null;
    const asked = await accessRequest(context, provider, interaction.params);
    return asked && { interaction, asked };
  }

  function show(request: Request, h: ResponseToolkit, visitor: Visitor, { interaction, asked }: Pending, fault?: ConsentFault): ResponseObject {
    return consentPage(context, h, { asked, visitor, action: here(request), destination: destinationOf(String(interaction.params['redirect_uri'])), fault });
  }

  /** A page that goes on by itself: a redirect after a form may lead only to addresses of this instance (CSP `form-action`). */
  function leave(h: ResponseToolkit, { asked, interaction }: Pending, isConnected: boolean): ResponseObject {
    const resume = new URL(interaction.returnTo);
    return h.view('oauth/leave', { title: isConnected ? 'Connected' : 'Not connected', isConnected, name: asked.client.name, next: resume.pathname + resume.search, destination: destinationOf(String(interaction.params['redirect_uri'])) })
      .header('cache-control', 'private, no-store').header('referrer-policy', 'no-referrer');
  }

  const form = formOptions({ untimed: true }, { onReject: (request) => recordIncident(request, { kind: 'oauth_consent_forged', account_id: (request.auth.credentials?.account_id as string | undefined) ?? null, detail: { path: request.path } }) });

  return [
    {
      method: 'GET', path, options: PAGE,
      handler: accounts.pages.signedIn(async (visitor, request, h) => {
        const found = await pending(request);
        return found ? show(request, h, visitor, found) : refusalPage(h, GONE);
      }),
    },
    {
      method: 'POST', path, options: form,
      handler: accounts.pages.confirmed(async (visitor, request, h) => {
        const found = await pending(request);
        if (!found) return refusalPage(h, GONE);
        const read = readDecision(request, found.asked, visitor, civic);
        if ('fault' in read) return show(request, h, visitor, found, read.fault);
        const { interaction, asked } = found;
        const grantId = await createGrant(context, await server.provider(), { asked, decision: read.decision, visitor, host: destinationOf(String(interaction.params['redirect_uri'])).host });
        await finish(interaction, { login: { accountId: visitor.account.id }, consent: { grantId } }, [...read.decision.scopes, ...(asked.wantsIdentity ? ['openid'] : [])]);
        return leave(h, found, true);
      }, { back: here }),
    },
    {
      method: 'POST', path: `${path}/deny`, options: form,
      handler: accounts.pages.signedIn(async (_visitor, request, h) => {
        const found = await pending(request);
        if (!found) return refusalPage(h, GONE);
        await finish(found.interaction, { error: 'access_denied', error_description: 'the user did not approve the request' });
        return leave(h, found, false);
      }),
    },
  ];
}

/** Stores the decision; the library continues with it. The scope of the request becomes what the user granted. */
async function finish(interaction: Interaction, result: object, scopes?: string[]): Promise<void> {
  if (scopes) interaction.params['scope'] = scopes.join(' ');
  interaction.result = result as never;
  await interaction.persist();
}
