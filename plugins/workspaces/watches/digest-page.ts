import type { ServerRoute } from '@hapi/hapi';
import { isWebUrl } from 'civic';
import type { Workspaces } from '../context.ts';
import { PAGE, type WorkspacePages } from '../pages/frame.ts';
import { partOf } from '../pages/paging.ts';
import { readDigest } from './digest.ts';
import type { Watches } from './watches.ts';
import { targetWords } from './words.ts';

const SHOWN = 25;

/** Returns the page of what the watches of a workspace found. */
export function digestPages({ civic, directory }: Workspaces, pages: WorkspacePages, watches: Watches): ServerRoute[] {
  return [{
    method: 'GET', path: '/workspaces/{id}/digest', options: PAGE,
    handler: pages.member(async (page) => {
      const { request, t } = page;
      const { last: before, cursorOf } = partOf(request, SHOWN);
      const { items, total, next } = await civic.db.snapshot((tx) => readDigest(watches, tx, page, {}, { before, limit: SHOWN }));
      return pages.show(page, { section: 'digest', template: 'workspaces/digest', title: t('digest.title') }, {
        total, next: cursorOf(next),
        items: items.map(({ signal, watches: matched, matched_at, is_update }) => ({
          title: signal.title, summary: signal.summary, occurred_at: signal.occurred_at, matched_at, is_update, isPrivate: signal.visibility === 'workspace',
          because: t('watch_mail.because', { target: targetWords(matched[0]!.target, t), others: matched.length - 1 }),
          sources: signal.evidence.map(({ source_url: url, title, publisher }) => ({ url: isWebUrl(url) ? url : null, name: title ?? publisher ?? url })),
          actors: signal.actors.map(({ id, name }) => ({ name, href: id === null || signal.origin ? null : directory.links.pages.actor?.(id) ?? null })),
        })),
      });
    }),
  }];
}
