import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { isId, problem, type SlotPart } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { AttentionSource } from 'civic/console';
import type { LinkedSource } from 'civic/directory';
import type { Ingest } from '../context.ts';
import { countStates, LINK_STATES, linkById, linksInState, type LinkRow } from '../links/store.ts';

export const LINKS = '/console/links';
const PAGE = { plugins: { civic: { internal: true } } };
const AT_ONCE = 50;
const MOST_TEXT = 200_000;

/** The pages of reviewers about the links of the directory: how many work, those of one state, and the archived text of one. */
export function linkPages({ civic, directory, reader }: Ingest, { pages }: Pick<AccountsService, 'pages'>): ServerRoute[] {
  async function showAll(request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const state = LINK_STATES.find((one) => one === request.query.state) ?? 'broken';
    const after = isId(request.query.after) ? String(request.query.after).toLowerCase() : null;
    const [counts, rows] = await Promise.all([countStates(civic.db.read), linksInState(civic.db.read, state, { after, limit: AT_ONCE + 1 })]);
    const sources = new Map((await directory.linksById(civic.db.read, rows.map(({ source_id }) => source_id))).map((source) => [source.id, source]));
    const shown = rows.slice(0, AT_ONCE);
    return pages.showConsole(request, h, { path: LINKS, template: 'ingest/links', title: t('links.title') }, {
      states: LINK_STATES.map((one) => ({ state: one, label: t(`link_states.${one}`), count: counts[one], isShown: one === state })),
      label: t(`link_states.${state}`),
      // What a workspace cites is not shown to reviewers of the instance.
      links: shown.flatMap((link) => { const source = sources.get(link.source_id); return source?.workspace_id === null ? [shownLink(link, source)] : []; }),
      next: rows.length > AT_ONCE ? `${LINKS}?state=${state}&after=${shown.at(-1)!.source_id}` : null,
    });

    function shownLink({ source_id: id, failing_since, checked_at, detail, moved_to, content_hash }: LinkRow, { url, title }: LinkedSource): object {
      return { id, title: title ?? url, url, page: directory.links.source(id), since: pages.when(failing_since, t), checked: pages.when(checked_at, t), detail, moved_to, isArchived: content_hash !== null };
    }
  }

  async function showArchived(request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const id = String(request.params.source_id).toLowerCase();
    const [source] = isId(id) ? await directory.linksById(civic.db.read, [id]) : [];
    const link = source?.workspace_id === null ? await linkById(civic.db.read, id) : undefined;
    const content = link?.content_hash ? await reader.content(civic.db.read, link.content_hash) : null;
    if (!source || !link || !content) throw problem('not_found', { detail: 'The archive has no copy of this source.' });
    const { text, truncated } = await reader.document({ url: source.url, content_type: content.content_type, body: content.body });
    return pages.showConsole(request, h, { path: LINKS, template: 'ingest/archived', title: source.title ?? source.url }, {
      url: source.url, page: directory.links.source(id), hash: content.hash, text: text.slice(0, MOST_TEXT), isCut: truncated || text.length > MOST_TEXT, reached: pages.when(link.reached_at, t),
    });
  }

  return [
    { method: 'GET', path: LINKS, options: PAGE, handler: pages.reviewer((_by, request, h) => showAll(request, h)) },
    { method: 'GET', path: `${LINKS}/{source_id}`, options: PAGE, handler: pages.reviewer((_by, request, h) => showArchived(request, h)) },
  ];
}

/** States how many links of the directory are broken. */
export function linkAttention({ civic }: Ingest): AttentionSource {
  return {
    plugin: 'ingest',
    async load(language) {
      const { broken } = await countStates(civic.db.read);
      if (broken === 0) return [];
      const t = await civic.texts(language);
      return [{ title: t('links.attention', { count: broken }), isUrgent: false, link: { label: t('links.title'), path: LINKS } }];
    },
  };
}

/** Adds to the page of a source what its status does not state: that the last checks failed or were not possible, where it moved, and that there is a copy. */
export function linkPart({ civic }: Ingest): SlotPart {
  return {
    partial: 'ingest/link',
    async load({ params }) {
      const id = String(params.id).toLowerCase();
      const link = isId(id) ? await linkById(civic.db.read, id) : undefined;
      if (!link || link.state === 'new') return null;
      return { [link.state]: true, since: link.failing_since, checked: link.checked_at, moved_to: link.moved_to, isArchived: link.content_hash !== null };
    },
  };
}
