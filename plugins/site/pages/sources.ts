import type { ServerRoute } from '@hapi/hapi';
import type { Texts } from 'civic';
import type { Source } from 'civic/directory';
import { paging } from '../paging.ts';
import { hostOf, isWebAddress } from '../quotes.ts';
import type { Site } from '../site.ts';
import { shownStatements, sourceTitle } from '../statements.ts';
import { referredBy } from './actors.ts';

const NONE: ReadonlySet<string> = new Set();

/** The page of a source: the statements that were read in it. */
export function sourcePages(site: Site): ServerRoute[] {
  return [site.page({
    path: '/sources/{id}',
    query: paging,
    async load(request, t) {
      const { source, data, total, isMore, next_cursor: next } = await site.directory.sourcePage(request, String(request.params.id));
      const referred = await referredBy(site, { affiliated: NONE, values: data.flatMap(({ values }) => values) }, t);
      const title = sourceTitle(source);
      const about = [source.publication ?? hostOf(source.url), t(`source_kinds.${source.kind}`), source.published_at && t.formatDate(source.published_at)];
      return {
        template: 'source',
        context: {
          title: source.publication && source.publication !== title ? t('source.title', { title, publication: source.publication }) : title,
          isUnlisted: true,
          linkedData: linkedSource(source, title),
          isSource: true,
          name: title,
          about: about.filter((part) => part && part !== title).join(' · '),
          read: isWebAddress(source.url) ? source.url : null,
          address: source.url,
          link: linkState(source, t),
          count: t(isMore ? 'source.many_entries' : 'source.entries', { count: total }),
          entries: data.map(({ actor, values }) => ({ name: actor.name, type: t(`types.${actor.type}`), href: `/actors/${actor.id}`, properties: shownStatements(values, referred) })),
          more: await site.civic.pages.parts('site.source', request),
          next: next && `/sources/${source.id}?cursor=${next}`,
        },
      };
    },
  })];
}

const WORKS: Partial<Record<Source['kind'], string>> = { news_article: 'NewsArticle', op_ed: 'OpinionNewsArticle', academic_paper: 'ScholarlyArticle', report: 'Report', dataset: 'Dataset' };

/** Returns a source in the words of schema.org. */
function linkedSource({ url, kind, publication, published_at: datePublished }: Source, name: string): object {
  return { '@context': 'https://schema.org', '@type': WORKS[kind] ?? 'WebPage', url: isWebAddress(url) ? url : null, name, publisher: publication && { '@type': 'Organization', name: publication }, datePublished };
}

/** Returns a sentence with the result of the last check of the link; when it was never checked, with the day on which the source was read. */
function linkState({ url_status: status, last_checked_at: checked, retrieved_at: retrieved }: Source, t: Texts): { status: string; words: string } {
  return { status, words: t(`source.link.${status}`, { date: t.formatDate(checked ?? retrieved) }) };
}
