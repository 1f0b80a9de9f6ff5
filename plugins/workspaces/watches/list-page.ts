import type { ResponseObject } from '@hapi/hapi';
import { isId, type Texts } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { Workspaces } from '../context.ts';
import type { PageContext, WorkspacePages } from '../pages/frame.ts';
import { issueGroups } from '../pages/issues.ts';
import { partOf } from '../pages/paging.ts';
import { entityReferences } from '../references.ts';
import { DELIVERIES, type Watch } from './types.ts';
import type { Watches } from './watches.ts';
import { targetName, targetWords } from './words.ts';

const DONE = ['added', 'changed', 'removed', 'saved', 'revoked'];
const SHOWN = 50;

/** What a form sent, what is wrong with it, and the address of a new feed. */
export interface Sent {
  given?: Record<string, unknown>;
  errors?: Record<string, string>;
  feed?: string;
}

export type ShowWatches = (page: PageContext, sent?: Sent, status?: number) => Promise<ResponseObject>;

/** Returns a function that shows the watches of a workspace, with the forms below them. */
export function createWatchList(workspaces: Workspaces, pages: WorkspacePages, watches: Watches): ShowWatches {
  const { civic, accounts, directory } = workspaces;

  async function settingsOf(page: PageContext): Promise<object> {
    const subscriber = await watches.subscribers.of(civic.db.read, page);
    const { has_mail = true, time_zone = 'UTC', language = page.request.civic.language, digest_hour = civic.config.digest_hour, feed_created_at: feedSince = null } = subscriber ?? {};
    return { settings: { has_mail: Boolean(has_mail), time_zone, isSpanish: language === 'es', hours: hours(digest_hour) }, feedSince };
  }

  /** Returns the entry that a link or the form names, if the member may see it. */
  async function entryOf(page: PageContext, given: Record<string, unknown>): Promise<{ id: string; name: string | null } | null> {
    const id = String(given['entry'] ?? page.request.query['entry'] ?? '').toLowerCase();
    const entity = isId(id) ? (await entityReferences(workspaces, civic.db.read, page, [id]))(id) : null;
    return entity?.state === 'current' ? { id, name: entity.name } : null;
  }

  return async (page, { given = {}, ...sent } = {}, status = 200) => {
    const { request, t } = page;
    const { last: before, cursorOf } = partOf(request, SHOWN);
    const { shown, total, next } = await watches.page(civic.db.read, page, {}, { before, limit: SHOWN });
    const done = String(request.query['done'] ?? '');
    return pages.show(page, { section: 'watches', template: 'workspaces/watches', title: t('watches.title'), status }, {
      watches: shown.map((watch) => ({ ...watch, ...shownTarget(directory, watch.target, t), deliveries: deliveries(watch.delivery) })), total, next: cursorOf(next),
      notice: DONE.includes(done) ? t(`watches.done_${done}`) : null,
      entry: await entryOf(page, given), issues: await issueGroups(directory, t, [given['issue']]), deliveries: deliveries('digest'),
      ...await settingsOf(page), hasMail: accounts.mail.isConfigured, email: page.visitor.account.email, given, ...sent,
    });
  };
}

function shownTarget({ links }: DirectoryService, target: Watch['target'], t: Texts): object {
  const { type, name } = target;
  const { actor, place } = links.pages;
  const href = name === null ? null : (type === 'entity' ? actor?.(target.id) : type === 'place' ? place?.(target.id) : null) ?? null;
  return { words: targetWords(target, t), heading: targetName(target, t) ?? t('watches.gone'), kind: t(`watches.kinds.${type}`), href };
}

function deliveries(chosen: string): { delivery: string; isChosen: boolean }[] {
  return DELIVERIES.map((delivery) => ({ delivery, isChosen: delivery === chosen }));
}

function hours(chosen: number): { hour: number; isChosen: boolean }[] {
  return Array.from({ length: 24 }, (_, hour) => ({ hour, isChosen: hour === chosen }));
}
