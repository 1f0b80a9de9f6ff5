import type { ServerRoute } from '@hapi/hapi';
import type { Workspaces } from '../context.ts';
import { NAME, PAGE, type WorkspacePages } from '../pages/frame.ts';
import { headOf, linesBefore, monthsOf } from './store.ts';

const LINES = 50;
const MONTHS_MS = 366 * 86_400_000;

/** Returns the page of what a workspace used: totals by month, and the latest lines. */
export function usagePages({ civic, accounts }: Workspaces, pages: WorkspacePages): ServerRoute[] {
  pages.section({ plugin: NAME, path: 'usage', label: 'usage.title', summary: async (reader, { t, workspace }) => t('overview.usage', { count: (await headOf(reader, workspace.id))?.seq ?? 0 }) });
  return [{
    method: 'GET', path: '/workspaces/{id}/usage', options: PAGE,
    handler: pages.member((page) => civic.db.snapshot(async (tx) => {
      const { workspace, t } = page;
      const since = new Date(civic.clock.now() - MONTHS_MS).toISOString().slice(0, 7);
      const names = new Map<string, string>();
      const rows = await linesBefore(tx, workspace.id, null, LINES);
      for (const id of new Set(rows.map(({ actor }) => actor))) names.set(id, (await accounts.account(tx, id))?.name ?? id);
      const meter = (name: string): string => (NAMED.includes(name) ? t(`usage.meters.${name}`) : name);
      return pages.show(page, { section: 'usage', template: 'workspaces/usage', title: t('usage.title') }, {
        head: await headOf(tx, workspace.id),
        months: (await monthsOf(tx, workspace.id, since)).map((row) => ({ ...row, meter: meter(row.meter) })),
        lines: rows.map((row) => ({ ...row, meter: meter(row.meter), who: names.get(row.actor), viaText: t(`usage.via.${row.via}`), short: row.hash.slice(0, 12) })),
      });
    })),
  }];
}

const NAMED = ['record_writes', 'exports', 'entity_writes', 'stream_sessions'];
