import type { ServerRoute } from '@hapi/hapi';
import { pagePath } from 'civic';
import type { Workspaces } from '../context.ts';
import type { Lists } from '../lists/lists.ts';
import { NAME, PAGE, type WorkspacePages } from './frame.ts';

const SHOWN = 5;

/** Returns the pages that lead to a workspace: the chosen one, and its overview. */
export function overviewPages({ civic, accounts }: Workspaces, pages: WorkspacePages, lists: Lists): ServerRoute[] {
  pages.section({ plugin: NAME, path: '', label: 'overview.section' });
  return [
    {
      method: 'GET', path: '/workspaces', options: PAGE,
      handler: accounts.pages.signedIn(({ workspaces, workspace_id }, request, h) => {
        const chosen = workspaces.find(({ id }) => id === workspace_id) ?? workspaces[0]!;
        return h.redirect(pagePath(request, `/workspaces/${chosen.id}`)).code(303).header('cache-control', 'private, no-store');
      }),
    },
    {
      method: 'GET', path: '/workspaces/{id}', options: PAGE,
      handler: pages.member((page) => civic.db.snapshot(async (tx) => {
        const cards: object[] = [];
        for (const { plugin, path, label, summary } of pages.sections()) if (summary) cards.push({ plugin, path, label, summary: await summary(tx, page) });
        const { shown } = await lists.page(tx, page, {}, { before: null, limit: SHOWN });
        return pages.show(page, { section: '', template: 'workspaces/overview', title: page.workspace.name }, { cards, lists: shown });
      })),
    },
  ];
}
