import type { Reader } from 'civic';

/** How places and issues are called, when the directory is on to ask. */
export interface Vocabulary {
  /** The canonical key of a place, by key, slug or a synonym of one; null when it is no place. */
  placeKey(reader: Reader, text: string): Promise<string | null>;
  /** The issue areas of a domain; null when it is none. */
  issuesOfDomain(slug: string): string[] | null;
}

export interface Terms {
  canonicalPlaces(reader: Reader, texts: string[]): Promise<string[]>;
  /** A domain stands for its issue areas. */
  issues(slugs: string[]): string[];
}

/** What is no known place or domain stays as it is written: signals may speak of it, and as a filter it matches only those. */
export function createTerms(vocabulary: () => Vocabulary | null): Terms {
  return {
    async canonicalPlaces(reader, texts) {
      const keys = new Set<string>();
      for (const text of texts) keys.add(await vocabulary()?.placeKey(reader, text) ?? text);
      return [...keys];
    },
    issues: (slugs) => [...new Set(slugs.flatMap((slug) => vocabulary()?.issuesOfDomain(slug) ?? [slug]))],
  };
}
