import type { Check } from 'civic';
import { readTaxonomy, type Domain, type IssueArea } from './file.ts';
import { createMatcher, type Match } from './match.ts';

/** What the rest of the kit asks of the taxonomy. */
export interface Taxonomy {
  /** The file it was read from. */
  readonly path: string;
  /** Changes with the file's content. */
  readonly hash: string;
  readonly domains: readonly Domain[];
  /** Of all domains, in the order of the file. */
  readonly issueAreas: readonly IssueArea[];
  domainBySlug(slug: string): Domain | null;
  issueAreaBySlug(slug: string): IssueArea | null;
  /** What a free text is about, best first. */
  resolveDomains(text: string): Match<Domain>[];
  resolveIssueAreas(text: string): Match<IssueArea>[];
}

/** Reads the file, or throws a Failure that tells all its mistakes. */
export function openTaxonomy(file: string | null): Taxonomy {
  const { path, hash, domains } = readTaxonomy(file);
  const issueAreas = domains.flatMap((domain) => domain.issue_areas);
  const domainsBySlug = new Map(domains.map((domain) => [domain.slug, domain]));
  const areasBySlug = new Map(issueAreas.map((area) => [area.slug, area]));
  return {
    path,
    hash,
    domains,
    issueAreas,
    domainBySlug: (slug) => domainsBySlug.get(slug) ?? null,
    issueAreaBySlug: (slug) => areasBySlug.get(slug) ?? null,
    resolveDomains: createMatcher(domains, ({ issue_areas }) => issue_areas.map((area) => area.name)),
    resolveIssueAreas: createMatcher(issueAreas, ({ domain }) => [domain.name, ...domain.search_terms]),
  };
}

/** The slugs somebody most likely meant by one that does not exist. */
export function likelySlugs(matches: Match<{ slug: string }>[]): string[] {
  return matches.slice(0, 3).map(({ item }) => item.slug);
}

/** Returns the paths of the names and descriptions in the taxonomy of the kit, which the catalogues translate. */
export function taxonomyTextPaths(): string[] {
  const { domains, issueAreas } = openTaxonomy(null);
  const paths = (kind: string, topics: readonly { slug: string }[]): string[] => topics.flatMap(({ slug }) => [`${kind}.${slug}.name`, `${kind}.${slug}.description`]);
  return [...paths('domains', domains), ...paths('issue_areas', issueAreas)];
}

/** Says when a file lost issue areas that actors still have. `used` counts actors by slug, private ones too. */
export function taxonomyCheck(taxonomy: () => Taxonomy, used: () => Promise<ReadonlyMap<string, number>>): Check {
  return {
    name: 'taxonomy',
    async run() {
      const { domains, issueAreas, issueAreaBySlug, path } = taxonomy();
      const lost = [...await used()].filter(([slug, count]) => count > 0 && !issueAreaBySlug(slug)).map(([slug, count]) => `${slug} (${count})`);
      if (lost.length === 0) return { status: 'ok', detail: `${domains.length} domains and ${issueAreas.length} issue areas in ${path}` };
      return {
        status: 'warning',
        detail: `${path} no longer has issue areas that actors have: ${lost.sort().join(', ')}`,
        fix: 'put them back into the file, or give those actors other issue areas',
      };
    },
  };
}
