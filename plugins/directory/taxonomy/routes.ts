import type { ServerRoute } from '@hapi/hapi';
import { conditional, Joi, problem, weakEtag, type ProblemKinds } from 'civic';
import type { Domain, IssueArea } from './file.ts';
import { domainList, domainRecord, issueAreaList, issueAreaQuery, issueAreaRecord, type DomainRecord, type IssueAreaQuery, type IssueAreaRecord, type WholeList } from './schemas.ts';
import { likelySlugs, type Taxonomy } from './service.ts';

export const taxonomyProblems = {
  unknown_issue_area: { status: 404, title: 'No such issue area', advice: 'Take one of did_you_mean, or list them at /api/issue-areas.' },
  unknown_domain: { status: 404, title: 'No such domain', advice: 'Take one of did_you_mean, or list them at /api/domains.' },
} satisfies ProblemKinds;

/** How many public actors have an issue area, and a version that changes when any of these numbers does. */
export interface IssueAreaCounts {
  version: string | number;
  bySlug: ReadonlyMap<string, number>;
}

export interface TaxonomyRoutes {
  taxonomy(): Taxonomy;
  counts(): Promise<IssueAreaCounts>;
  /** Of the kit: another one may answer the same question differently. */
  version: string;
}

const CACHE = 'public, max-age=3600';

export function taxonomyRoutes({ taxonomy, counts, version }: TaxonomyRoutes): ServerRoute[] {
  const noQuery = Joi.object({});
  const params = Joi.object({ slug: Joi.string() });
  const known = (...parts: (string | number)[]) => ({ etag: weakEtag(version, taxonomy().hash, ...parts), cacheControl: CACHE });

  return [
    {
      method: 'GET',
      path: '/api/issue-areas',
      options: {
        description: 'The issue areas, all in one answer; with a query, those it is about',
        validate: { query: issueAreaQuery },
        plugins: { civic: { conditional: true } },
        response: { schema: issueAreaList },
      },
      handler: async (request, h) => {
        const counted = await counts();
        return conditional(request, h, known(counted.version), () => wholeList(areasFor(taxonomy(), request.query as IssueAreaQuery, counted)));
      },
    },
    {
      method: 'GET',
      path: '/api/issue-areas/{slug}',
      options: {
        description: 'One issue area',
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_issue_area'], conditional: true } },
        response: { schema: issueAreaRecord },
      },
      handler: async (request, h) => {
        const slug = String(request.params.slug);
        const found = taxonomy().issueAreaBySlug(slug);
        if (!found) throw problem('unknown_issue_area', unknown('issue area', slug, likelySlugs(taxonomy().resolveIssueAreas(slug))));
        const counted = await counts();
        return conditional(request, h, { ...known(counted.version), contentLocation: `/api/issue-areas/${slug}` }, () => areaRecord(found, counted, null));
      },
    },
    {
      method: 'GET',
      path: '/api/domains',
      options: {
        description: 'The domains, all in one answer, with the slugs of their issue areas',
        validate: { query: noQuery },
        plugins: { civic: { conditional: true } },
        response: { schema: domainList },
      },
      handler: (request, h) => conditional(request, h, known(), () => wholeList(taxonomy().domains.map(recordOf))),
    },
    {
      method: 'GET',
      path: '/api/domains/{slug}',
      options: {
        description: 'One domain',
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_domain'], conditional: true } },
        response: { schema: domainRecord },
      },
      handler: async (request, h) => {
        const slug = String(request.params.slug);
        const found = taxonomy().domainBySlug(slug);
        if (!found) throw problem('unknown_domain', unknown('domain', slug, likelySlugs(taxonomy().resolveDomains(slug))));
        return conditional(request, h, { ...known(), contentLocation: `/api/domains/${slug}` }, () => recordOf(found));
      },
    },
  ];
}

function areasFor(taxonomy: Taxonomy, { query, domain }: IssueAreaQuery, counts: IssueAreaCounts): IssueAreaRecord[] {
  const all = query === undefined ? taxonomy.issueAreas.map((item) => ({ item, score: null })) : taxonomy.resolveIssueAreas(query);
  return all.filter(({ item }) => domain === undefined || item.domain.slug === domain).map(({ item, score }) => areaRecord(item, counts, score));
}

function areaRecord({ slug, name, description, domain }: IssueArea, counts: IssueAreaCounts, score: number | null): IssueAreaRecord {
  return { slug, name, description, domain: { slug: domain.slug, name: domain.name }, entity_count: counts.bySlug.get(slug) ?? 0, match_score: score };
}

function recordOf({ slug, name, description, issue_areas }: Domain): DomainRecord {
  return { slug, name, description, issue_area_count: issue_areas.length, issue_areas: issue_areas.map((area) => area.slug) };
}

function wholeList<Item>(data: Item[]): WholeList<Item> {
  return { data, total: data.length, next_cursor: null };
}

function unknown(kind: string, slug: string, likely: string[]): { detail: string; extra: { did_you_mean: string[] } } {
  const question = likely.length > 0 ? ` Did you mean ${likely.join(', ')}?` : '';
  return { detail: `No ${kind} has the slug "${slug.slice(0, 100)}".${question}`, extra: { did_you_mean: likely } };
}
