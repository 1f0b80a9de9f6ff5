import type { Request } from '@hapi/hapi';
import { cursorAfter, pageOf, type ReadyAnswers } from 'civic';
import { positionShape, searchEntities, type PageQuery } from '../actors/reads.ts';
import type { Suggestion } from '../actors/suggestions.ts';
import type { Correction } from '../search/list.ts';
import type { Facets } from '../search/facets.ts';
import type { Directory } from '../service.ts';
import { domainOf, issueAreaOf } from '../taxonomy/routes.ts';
import type { Domain } from '../taxonomy/file.ts';
import type { Actor } from '../types.ts';

/** Reads for pages. All of them return public data only. */
export interface PageReads {
  /** The response cache of the directory. A commit that changes public data invalidates the responses with the tag `all` before it returns. */
  responses: ReadyAnswers;
  /** Returns the page of a list of actors that `cursor` and `limit` of a request ask for, as `GET /api/entities` does. */
  entities(request: Request, query: Partial<PageQuery>): Promise<EntityPage>;
  /** Returns all domains with their issue areas and the number of public actors of each. */
  taxonomy(): Promise<TaxonomyDomain[]>;
  /** Throws `unknown_domain`. */
  domain(slug: string): Promise<TaxonomyDomain>;
  /** Throws `unknown_issue_area`. */
  issue(slug: string): Promise<TaxonomyIssue>;
}

export interface EntityPage {
  data: Actor[];
  total: number;
  next_cursor: string | null;
  facets?: Facets;
  corrected?: Correction[];
  suggestions?: Suggestion[];
}

export interface TaxonomyTopic {
  slug: string;
  name: string;
  description: string;
}

export interface TaxonomyIssue extends TaxonomyTopic {
  domain: TaxonomyTopic;
  entity_count: number;
}

export interface TaxonomyDomain extends TaxonomyTopic {
  issue_areas: TaxonomyIssue[];
}

export function offeredPages(directory: Directory): PageReads {
  const { issueCounts, ready, taxonomy } = directory;
  const withCounts = (domains: readonly Domain[], counts: ReadonlyMap<string, number>): TaxonomyDomain[] => domains.map((domain) => ({
    ...topicOf(domain),
    issue_areas: domain.issue_areas.map((area) => ({ ...topicOf(area), domain: topicOf(domain), entity_count: counts.get(area.slug) ?? 0 })),
  }));
  return {
    responses: ready,
    async entities(request, query) {
      const page = pageOf<PageQuery>(request, () => positionShape(asked(query)));
      const { data, total, next, extra } = await searchEntities(directory, { ...page, query: asked(query) }, null);
      return { data: data.map((text) => JSON.parse(text) as Actor), total, next_cursor: next && cursorAfter(request, page, next), ...extra };
    },
    taxonomy: async () => withCounts(taxonomy().domains, await issueCounts()),
    domain: async (slug) => withCounts([domainOf(taxonomy(), slug)], await issueCounts())[0]!,
    async issue(slug) {
      const area = issueAreaOf(taxonomy(), slug);
      return { ...topicOf(area), domain: topicOf(area.domain), entity_count: (await issueCounts()).get(slug) ?? 0 };
    },
  };
}

function asked(query: Partial<PageQuery>): PageQuery {
  return { sort: 'relevance', facets: false, ...query };
}

function topicOf({ slug, name, description }: TaxonomyTopic): TaxonomyTopic {
  return { slug, name, description };
}
