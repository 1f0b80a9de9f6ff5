import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, isId, pagePath, problem, type Texts } from 'civic';
import type { Delegate, Visitor } from 'civic/accounts';
import { hasEnded, hasPermissions, IDENTITY_SCOPE } from '../grants.ts';
import { API_PATH } from '../resources.ts';
import type { ServerContext } from '../server/server.ts';
import { clientKinds, type ClientKind } from '../store/clients.ts';
import { grantById, type GrantRow } from '../store/grants.ts';
import { shownScope } from './consent.ts';

const PATH = '/account/apps';
const PAGE_SIZE = 50;
/** Names the notice in the address. The notice does not name the app: a link of an attacker could name any text. */
const DONE = 'disconnected';
const PAGE = { plugins: { civic: { internal: true } } };

/** A connection as pages show it. */
interface ShownConnection {
  id: string;
  name: string;
  /** How far the name can be trusted; pages have a text for each. */
  trust: 'operator' | 'name' | 'address';
  where: string;
  [more: string]: unknown;
}

/** Returns the pages that list the connected apps of an account and disconnect one. */
export function appRoutes({ civic, accounts, grants, resources }: ServerContext): ServerRoute[] {
  const { pages } = accounts;

  function shown(grant: GrantRow, { workspaces }: Visitor, kind: ClientKind | undefined, delegate: Delegate | null, t: Texts): ShownConnection {
    const hasAccess = hasPermissions(grant);
    return {
      id: grant.id,
      name: grant.client_name,
      trust: trustOf(kind),
      where: whereOf(grant, t),
      resource: hasAccess ? resources.named(grant.resource)?.resource : null,
      workspace: hasAccess ? workspaces.find(({ id }) => id === grant.workspace_id)?.name : null,
      hasEnded: delegate !== null && hasEnded(grant, delegate),
      // Connections from before `openid` was stored have no scope.
      scopes: (hasAccess ? grant.scopes : [IDENTITY_SCOPE]).map((scope) => labelOf(scope, t)),
      connected: pages.when(grant.created_at, t),
      used: pages.when(grant.used_at, t),
      ends: pages.when(grant.expires_at, t),
    };
  }

  function labelOf(scope: string, t: Texts): string {
    return scope === IDENTITY_SCOPE ? t('apps.identity') : shownScope(civic, scope, t).label;
  }

  async function shownConnections(request: Request, own: GrantRow[], visitor: Visitor): Promise<ShownConnection[]> {
    const t = await civic.texts(request.civic.language);
    const kinds = await clientKinds(civic.db.read, own.map(({ client_id }) => client_id));
    const delegate = await accounts.delegate(civic.db.read, visitor.account.id);
    return own.map((grant) => shown(grant, visitor, kinds.get(grant.client_id), delegate, t));
  }

  async function ownConnection(request: Request, { account }: Visitor): Promise<GrantRow> {
    const id = String(request.params['id']);
    const found = isId(id) ? await grantById(civic.db.read, id) : null;
    if (found?.account_id !== account.id) throw problem('not_found', { detail: 'No app of yours has this id, or it is disconnected already.' });
    return found;
  }

  async function listPage(request: Request, h: ResponseToolkit, visitor: Visitor): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const { url, path } = resources.byDefault();
    const after = String(request.query['after'] ?? '');
    const found = await grants.of(civic.db.read, visitor.account.id, { after: isId(after) ? after : null, limit: PAGE_SIZE + 1 });
    const own = found.slice(0, PAGE_SIZE);
    return pages.show(request, h, { path: PATH, template: 'oauth/apps', title: t('apps.title') }, {
      apps: grouped(await shownConnections(request, own, visitor)),
      next: found.length > PAGE_SIZE ? `${PATH}?after=${own.at(-1)!.id}` : null,
      hasChoice: visitor.workspaces.length > 1,
      unusedDays: civic.config.refresh_days,
      notice: request.query['done'] === DONE ? t('apps.done') : undefined,
      address: path === API_PATH ? null : url,
    });
  }

  return [
    { method: 'GET', path: PATH, options: PAGE, handler: pages.signedIn((visitor, request, h) => listPage(request, h, visitor)) },
    {
      method: 'GET', path: `${PATH}/{id}/disconnect`, options: PAGE,
      handler: pages.signedIn(async (visitor, request, h) => {
        const t = await civic.texts(request.civic.language);
        const [app] = await shownConnections(request, [await ownConnection(request, visitor)], visitor) as [ShownConnection];
        return pages.show(request, h, { path: PATH, template: 'oauth/app-disconnect', title: t('disconnect.title', { name: app.name }) }, { app, permissions: (app['scopes'] as string[]).join(', ') });
      }),
    },
    {
      method: 'POST', path: `${PATH}/{id}/disconnect`, options: formOptions(),
      handler: pages.signedIn(async (visitor, request, h) => {
        const { id } = await ownConnection(request, visitor);
        await civic.db.write((tx) => grants.end(tx, id, visitor.doer, 'disconnected'));
        return h.redirect(pagePath(request, `${PATH}?done=${DONE}`)).code(303);
      }),
    },
  ];
}

function trustOf(kind: ClientKind | undefined): ShownConnection['trust'] {
  if (kind === 'operator') return 'operator';
  return kind === 'registered' ? 'name' : 'address';
}

function whereOf({ client_host, client_place }: GrantRow, t: Texts): string {
  if (client_host !== null) return client_host;
  return client_place === null || client_place === 'website' ? t('apps.places.unknown') : t(`apps.places.${client_place}`);
}

/** Groups connections that differ in nothing that a user knows of the app. An app that registers again has another client_id. */
function grouped(connections: ShownConnection[]): { name: string; trust: ShownConnection['trust']; isTrusted: boolean; connections: ShownConnection[] }[] {
  const groups = new Map<string, ShownConnection[]>();
  for (const connection of connections) {
    const key = JSON.stringify([connection.name, connection.trust, connection.where]);
    groups.set(key, [...groups.get(key) ?? [], connection]);
  }
  return [...groups.values()].map((group) => ({ name: group[0]!.name, trust: group[0]!.trust, isTrusted: group[0]!.trust !== 'name', connections: group }));
}
