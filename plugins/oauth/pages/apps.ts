import type { ServerRoute } from '@hapi/hapi';
import { formOptions, problem } from 'civic';
import type { Visitor } from 'civic/accounts';
import type { ServerContext } from '../server/server.ts';
import type { GrantRow } from '../store/grants.ts';

const PATH = '/account/apps';
const PAGE = { plugins: { civic: { internal: true } } };
const SHOWN = { path: PATH, template: 'oauth/apps', title: 'Connected apps' } as const;

/** The apps that an account has connected, and how to disconnect one. */
export function appRoutes({ civic, accounts, grants, resources }: ServerContext): ServerRoute[] {
  const { pages } = accounts;
  const shown = ({ id, client_name: name, client_host: host, workspace_id, scopes, created_at, used_at }: GrantRow, { workspaces }: Visitor) => ({
    id, name, host, workspace: workspaces.find((one) => one.id === workspace_id)?.name ?? 'a workspace you left',
    scopes: scopes.map((scope) => civic.vocabulary.scopes.get(scope)?.label ?? scope),
    connected: pages.when(created_at), used: pages.when(used_at),
  });
  const own = async (visitor: Visitor, id: unknown): Promise<GrantRow> => {
    const found = (await grants.of(civic.db.read, visitor.account.id)).find((grant) => grant.id === id);
    if (!found) throw problem('not_found', { detail: 'You have no such app, or it is disconnected already.' });
    return found;
  };
  return [
    {
      method: 'GET', path: PATH, options: PAGE,
      handler: pages.signedIn(async (visitor, request, h) => {
        const apps = (await grants.of(civic.db.read, visitor.account.id)).map((grant) => shown(grant, visitor));
        const notice = request.query['done'] === 'disconnected' ? 'The app is disconnected. Its access ends within seconds.' : undefined;
        return pages.show(request, h, SHOWN, { apps, hasChoice: visitor.workspaces.length > 1, notice, address: resources.byDefault().url });
      }),
    },
    {
      method: 'GET', path: `${PATH}/{id}/disconnect`, options: PAGE,
      handler: pages.signedIn(async (visitor, request, h) => pages.show(request, h, { ...SHOWN, template: 'oauth/app-disconnect', title: 'Disconnect this app?' }, { app: shown(await own(visitor, request.params['id']), visitor) })),
    },
    {
      method: 'POST', path: `${PATH}/{id}/disconnect`, options: formOptions(),
      handler: pages.signedIn(async (visitor, request, h) => {
        const { id } = await own(visitor, request.params['id']);
        await civic.db.write((tx) => grants.end(tx, id, visitor.doer, 'disconnected'));
        return h.redirect(`${new URL(civic.instance.public_url).pathname.replace(/\/$/, '')}${PATH}?done=disconnected`).code(303).header('cache-control', 'no-store');
      }),
    },
  ];
}
