import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, problem, singleLine, textEtag, type ProblemKinds, type ReadyAnswers } from 'civic';
import type { Domain, IssueArea } from './file.ts';
import { domainList, domainRecord, issueAreaList, issueAreaQuery, issueAreaRecord, type DomainRecord, type IssueAreaQuery, type IssueAreaRecord, type WholeList } from './schemas.ts';
import { likelySlugs, type Taxonomy } from './service.ts';

export const taxonomyProblems = {
  unknown_issue_area: { status: 404, title: 'No such issue area', advice: 'Take one of did_you_mean, or list them at /api/issue-areas.' },
  unknown_domain: { status: 404, title: 'No such domain', advice: 'Take one of did_you_mean, or list them at /api/domains.' },
} satisfies ProblemKinds;

/** How many public actors have an issue area, by its slug. */
export type IssueAreaCounts = ReadonlyMap<string, number>;

export interface TaxonomyRoutes {
  taxonomy(): Taxonomy;
  counts(): Promise<IssueAreaCounts>;
  /** Keeps the answers until a count changes. */
  ready: ReadyAnswers;
  url(path: string): string;
}

const CACHE = 'public, max-age=3600';

export function taxonomyRoutes({ taxonomy, counts, ready, url }: TaxonomyRoutes): ServerRoute[] {
  const noQuery = Joi.object({});
  const params = Joi.object({ slug: Joi.string() });
  const ext = { onPostAuth: { method: ready.hit } };
  const answer = (request: Request, h: ResponseToolkit, make: () => Promise<object> | object, path?: string) => ready.answer(request, h, 'all', async () => {
    const body = JSON.stringify(await make());
    return { body, etag: textEtag(body), cacheControl: CACHE, ...(path && { headers: { 'content-location': url(path) } }) };
  });

  return [
    {
      method: 'GET',
      path: '/api/issue-areas',
      options: {
        description: 'The issue areas, all in one response; with a query, those that match it',
        notes: '`entity_count` counts public actors. With `query`, the best match is first and has the highest `match_score`.',
        validate: { query: issueAreaQuery },
        plugins: { civic: { conditional: true } },
        ext,
        response: { schema: issueAreaList, sample: 0 },
      },
      handler: (request, h) => answer(request, h, async () => wholeList(areasFor(taxonomy(), request.query as IssueAreaQuery, await counts()))),
    },
    {
      method: 'GET',
      path: '/api/issue-areas/{slug}',
      options: {
        description: 'One issue area',
        notes: 'An unknown slug is 404 with `did_you_mean`.',
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_issue_area'], conditional: true } },
        ext,
        response: { schema: issueAreaRecord, sample: 0 },
      },
      handler: async (request, h) => {
        const slug = String(request.params.slug);
        const found = issueAreaOf(taxonomy(), slug);
        return answer(request, h, async () => areaRecord(found, await counts(), null), `/api/issue-areas/${slug}`);
      },
    },
    {
      method: 'GET',
      path: '/api/domains',
      options: {
        description: 'The domains, all in one response, with the slugs of their issue areas',
        notes: 'A domain is a group of issue areas. Operators can replace the taxonomy by their own file.',
        validate: { query: noQuery },
        plugins: { civic: { conditional: true } },
        ext,
        response: { schema: domainList, sample: 0 },
      },
      handler: (request, h) => answer(request, h, () => wholeList(taxonomy().domains.map(recordOf))),
    },
    {
      method: 'GET',
      path: '/api/domains/{slug}',
      options: {
        description: 'One domain',
        notes: 'An unknown slug is 404 with `did_you_mean`.',
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_domain'], conditional: true } },
        ext,
        response: { schema: domainRecord, sample: 0 },
      },
      handler: async (request, h) => {
        const slug = String(request.params.slug);
        const found = domainOf(taxonomy(), slug);
        return answer(request, h, () => recordOf(found), `/api/domains/${slug}`);
      },
    },
  ];
}

/** Returns an issue area, or throws `unknown_issue_area`. */
export function issueAreaOf(taxonomy: Taxonomy, slug: string): IssueArea {
  const found = taxonomy.issueAreaBySlug(slug);
  if (!found) throw problem('unknown_issue_area', unknown('issue area', slug, likelySlugs(taxonomy.resolveIssueAreas(slug))));
  return found;
}

/** Returns a domain, or throws `unknown_domain`. */
export function domainOf(taxonomy: Taxonomy, slug: string): Domain {
  const found = taxonomy.domainBySlug(slug);
  if (!found) throw problem('unknown_domain', unknown('domain', slug, likelySlugs(taxonomy.resolveDomains(slug))));
  return found;
}

/** The issue areas of a domain, or those that a free text is about, best first. */
export function areasFor(taxonomy: Taxonomy, { query, domain }: IssueAreaQuery, counts: IssueAreaCounts): IssueAreaRecord[] {
  const all = query === undefined ? taxonomy.issueAreas.map((item) => ({ item, score: null })) : taxonomy.resolveIssueAreas(query);
  return all.filter(({ item }) => domain === undefined || item.domain.slug === domain).map(({ item, score }) => areaRecord(item, counts, score));
}

function areaRecord({ slug, name, description, domain }: IssueArea, counts: IssueAreaCounts, score: number | null): IssueAreaRecord {
  return { slug, name, description, domain: { slug: domain.slug, name: domain.name }, entity_count: counts.get(slug) ?? 0, match_score: score };
}

function recordOf({ slug, name, description, issue_areas }: Domain): DomainRecord {
  return { slug, name, description, issue_area_count: issue_areas.length, issue_areas: issue_areas.map((area) => area.slug) };
}

export function wholeList<Item>(data: Item[]): WholeList<Item> {
  return { data, total: data.length, next_cursor: null };
}

function unknown(kind: string, slug: string, likely: string[]): { detail: string; extra: { did_you_mean: string[] } } {
  const question = likely.length > 0 ? ` Did you mean ${likely.join(', ')}?` : '';
  return { detail: `No ${kind} has the slug "${singleLine(slug, 100)}".${question}`, extra: { did_you_mean: likely } };
}
