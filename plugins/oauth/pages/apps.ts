import type { ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, problem } from 'civic';
import type { Visitor } from 'civic/accounts';
import type { ServerContext } from '../server/server.ts';
import type { GrantRow } from '../store/grants.ts';

const PATH = '/account/apps';
const PAGE = { plugins: { civic: { internal: true } } };
const LIST = { path: PATH, template: 'oauth/apps', title: 'Connected apps' } as const;
const DISCONNECT = { path: PATH, template: 'oauth/app-disconnect', title: 'Disconnect this app?' } as const;

/** Returns the pages that list the connected apps of an account and disconnect one. */
export function appRoutes({ civic, accounts, grants, resources }: ServerContext): ServerRoute[] {
  const { pages } = accounts;

  function appOf(grant: GrantRow, { workspaces }: Visitor): object {
    return {
      id: grant.id,
      name: grant.client_name,
      host: grant.client_host,
      workspace: workspaces.find(({ id }) => id === grant.workspace_id)?.name ?? 'a workspace you left',
      scopes: grant.scopes.map((scope) => civic.vocabulary.scopes.get(scope)?.label ?? scope),
      connected: pages.when(grant.created_at),
      used: pages.when(grant.used_at),
    };
  }

  async function ownGrant({ account }: Visitor, id: unknown): Promise<GrantRow> {
    const found = (await grants.of(civic.db.read, account.id)).find((grant) => grant.id === id);
    if (!found) throw problem('not_found', { detail: 'No app of yours has this id, or it is disconnected already.' });
    return found;
  }

  return [
    {
      method: 'GET', path: PATH, options: PAGE,
      handler: pages.signedIn(async (visitor, request, h) => {
        const apps = (await grants.of(civic.db.read, visitor.account.id)).map((grant) => appOf(grant, visitor));
        const notice = request.query['done'] === 'disconnected' ? 'The app is disconnected. Its access ends within seconds.' : undefined;
        return pages.show(request, h, LIST, { apps, hasChoice: visitor.workspaces.length > 1, notice, address: resources.byDefault().url });
      }),
    },
    {
      method: 'GET', path: `${PATH}/{id}/disconnect`, options: PAGE,
      handler: pages.signedIn(async (visitor, request, h) => {
        const grant = await ownGrant(visitor, request.params['id']);
        return pages.show(request, h, DISCONNECT, { app: appOf(grant, visitor) });
      }),
    },
    {
      method: 'POST', path: `${PATH}/{id}/disconnect`, options: formOptions(),
      handler: pages.signedIn(async (visitor, request, h) => {
        const { id } = await ownGrant(visitor, request.params['id']);
        await civic.db.write((tx) => grants.end(tx, id, visitor.doer, 'disconnected'));
        return h.redirect(pagePath(request, `${PATH}?done=disconnected`)).code(303).header('cache-control', 'no-store');
      }),
    },
  ];
}
