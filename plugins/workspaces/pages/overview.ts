import type { ServerRoute } from '@hapi/hapi';
import { pagePath } from 'civic';
import type { Workspaces } from '../context.ts';
import type { Lists } from '../lists/lists.ts';
import { countRecords } from '../records/store.ts';
import { headOf } from '../usage/store.ts';
import { PAGE, type WorkspacePages } from './frame.ts';

const SHOWN = 5;

/** Returns the pages that lead to a workspace: the chosen one, and its overview. */
export function overviewPages({ civic, accounts }: Workspaces, pages: WorkspacePages, lists: Lists): ServerRoute[] {
  pages.section({ path: '', label: 'overview.section' });
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
        const { workspace, t } = page;
        const { shown, total } = await lists.page(tx, page, {}, { before: null, limit: SHOWN });
        const counts = [
          { path: 'lists', label: t('lists.title'), summary: t('overview.lists', { count: total }) },
          { path: 'notes', label: t('notes.title'), summary: t('overview.notes', { count: await countRecords(tx, 'workspaces_notes', workspace.id) }) },
          { path: 'targets', label: t('targets.title'), summary: t('overview.targets', { count: await countRecords(tx, 'workspaces_targets', workspace.id) }) },
          { path: 'reviews', label: t('reviews.title'), summary: t('overview.reviews', { count: await countRecords(tx, 'workspaces_reviews', workspace.id) }) },
          { path: 'briefs', label: t('briefs.title'), summary: t('overview.briefs', { count: await countRecords(tx, 'workspaces_briefs', workspace.id) }) },
          ...(civic.serviceIfOn('firehose') ? [{ path: 'watches', label: t('watches.title'), summary: t('overview.watches', { count: await countRecords(tx, 'workspaces_watches', workspace.id) }) }] : []),
          { path: 'usage', label: t('usage.title'), summary: t('overview.usage', { count: (await headOf(tx, workspace.id))?.seq ?? 0 }) },
        ];
        return pages.show(page, { section: '', template: 'workspaces/overview', title: workspace.name }, { counts, lists: shown });
      })),
    },
  ];
}
