import { parseUrl, type Texts } from 'civic';
import type { Source } from 'civic/directory';

export interface ShownSource {
  title: string;
  href: string;
  /** Where and when it was published. */
  publication: string;
  retrieved: string;
}

/** Returns sources for a list. A source without a title is listed by its URL. */
export function shownSources(sources: Source[], t: Texts): ShownSource[] {
  return sources.map(({ id, url, title, publication, published_at: published, retrieved_at: retrieved }) => ({
    title: title ?? url,
    href: `/sources/${id}`,
    publication: [publication ?? parseUrl(url)?.hostname ?? url, published && t.formatDate(published)].filter(Boolean).join(', '),
    retrieved,
  }));
}
