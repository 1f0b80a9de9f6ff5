import type { Texts } from 'civic';
import type { NamedActor, Topic } from 'civic/directory';
import { translatedTopic } from '../words.ts';

/** From so many entries on, an issue is covered. */
const COVERED = 3;

export type CoverageStatus = 'covered' | 'thin' | 'missing';

export interface ShownIssue {
  slug: string;
  name: string;
  count: number;
  status: CoverageStatus;
  words: string;
  href: string;
  entries: { name: string; href: string }[];
  /** Whether there are more entries than those listed. */
  hasMore: boolean;
}

export interface ShownTopic {
  name: string;
  issues: ShownIssue[];
  /** The issues that have entries. */
  active: ShownIssue[];
}

export interface ShownCoverage {
  topics: ShownTopic[];
  covered: number;
  thin: number;
  missing: ShownIssue[];
  total: number;
  /** Whether no entry names an issue. */
  isEmpty: boolean;
}

/** Returns the coverage of a place by topic and issue. Each issue links to `href` with the parameter `issue_area`. */
export function shownCoverage(domains: Topic[], issueOf: (slug: string) => { entity_count: number; actors: NamedActor[] } | undefined, href: string, t: Texts): ShownCoverage {
  const topics = domains.map((domain): ShownTopic => {
    const issues = domain.issue_areas.map((area): ShownIssue => {
      const { entity_count: count, actors } = issueOf(area.slug) ?? { entity_count: 0, actors: [] };
      const status = count === 0 ? 'missing' : count < COVERED ? 'thin' : 'covered';
      const { name } = translatedTopic(t, 'issue_areas', area);
      return {
        slug: area.slug, name, count, status,
        words: t(`coverage.${status}_issue`, { issue: name, count }),
        href: count === 0 ? `/issues/${area.slug}` : `${href}?issue_area=${area.slug}`,
        entries: actors.map(({ id, name: who }) => ({ name: who, href: `/actors/${id}` })),
        hasMore: count > actors.length,
      };
    });
    return { name: translatedTopic(t, 'domains', domain).name, issues, active: issues.filter(({ status }) => status !== 'missing') };
  });
  const all = topics.flatMap(({ issues }) => issues);
  const count = (wanted: CoverageStatus) => all.filter(({ status }) => status === wanted).length;
  const missing = all.filter(({ status }) => status === 'missing');
  return { topics, covered: count('covered'), thin: count('thin'), missing, total: all.length, isEmpty: missing.length === all.length };
}

/** Returns whether the page to print, which lists entries by issue and coming events, has any content. */
export function hasSheet(coverage: ShownCoverage | null, events: unknown[]): boolean {
  return coverage !== null && (!coverage.isEmpty || events.length > 0);
}
