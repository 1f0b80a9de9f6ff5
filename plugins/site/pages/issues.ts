import type { ServerRoute } from '@hapi/hapi';
import type { Texts } from 'civic';
import type { TaxonomyDomain } from 'civic/directory';
import { shownEntries } from '../entries.ts';
import { paging } from '../paging.ts';
import type { LoadedPage, Site } from '../site.ts';
import { feedsOf, hrefOf } from '../places/words.ts';
import { translatedTopic } from '../words.ts';

const MOST_PLACES = 12;
const CONTEXT = 'https://schema.org';

/** The pages of issue areas, which visitors know as issues, and of domains, which they know as topics. */
export function issuePages(site: Site): ServerRoute[] {
  const { directory } = site;
  return [
    site.page({ path: '/issues', load: async (_request, t) => issuesPage(await directory.taxonomy(), t) }),
    site.page({ path: '/domains/{slug}', load: async (request, t) => topicPage(site, await directory.domain(String(request.params.slug)), t) }),
    site.page({
      path: '/issues/{slug}',
      query: paging,
      async load(request, t) {
        const issue = await directory.issue(String(request.params.slug));
        const { name, description } = translatedTopic(t, 'issue_areas', issue);
        const [entries, places, topic] = await Promise.all([
          directory.entities(request, { issue_area: [issue.slug], sort: 'source_count' }), directory.placesOfIssue(issue.slug, MOST_PLACES), directory.domain(issue.domain.slug),
        ]);
        return {
          template: 'issue',
          context: {
            title: name, description, name, canonical: `/issues/${issue.slug}`, feeds: feedsOf(`/api/issue-areas/${issue.slug}`, name, t),
            linkedData: { '@context': CONTEXT, ...linkedTerm(site, `/issues/${issue.slug}`, { name, description }), termCode: issue.slug, inDefinedTermSet: linkedSet(site, shownTopic(topic, t)) },
            crumbs: [home(t), { name: translatedTopic(t, 'domains', issue.domain).name, href: `/domains/${issue.domain.slug}` }],
            numbers: entries.total === 0 ? t('issue.none') : t('issue.numbers', { entries: entries.total, places: places.total }),
            places: places.data.map((place) => ({ name: place.display_name, href: `${hrefOf(place.place_key)}/entries?issue_area=${issue.slug}`, count: place.entity_count })),
            morePlaces: places.total > places.data.length && `/map?issue=${issue.slug}`,
            topic: translatedTopic(t, 'domains', issue.domain).name,
            others: shownTopic(topic, t).issues.filter(({ href }) => href !== `/issues/${issue.slug}`),
            ...(site.firehose && { signals: `/signals?issue=${issue.slug}` }),
            entries: shownEntries(entries.data, t),
            next: entries.next_cursor && `/issues/${issue.slug}?cursor=${entries.next_cursor}`,
          },
        };
      },
    }),
  ];
}

const home = (t: Texts) => ({ name: t('issues.title'), href: '/issues' });

function issuesPage(domains: TaxonomyDomain[], t: Texts): LoadedPage {
  return {
    template: 'issues',
    context: { title: t('issues.title'), description: t('issues.lead'), canonical: '/issues', topics: domains.map((domain) => shownTopic(domain, t)) },
  };
}

function topicPage(site: Site, domain: TaxonomyDomain, t: Texts): LoadedPage {
  const topic = shownTopic(domain, t);
  const linkedData = { '@context': CONTEXT, ...linkedSet(site, topic), description: topic.description, hasDefinedTerm: topic.issues.map((issue) => linkedTerm(site, issue.href, issue)) };
  return { template: 'topic', context: { title: topic.name, canonical: topic.href, crumbs: [home(t)], linkedData, ...topic } };
}

/** Returns an issue in the words of schema.org. */
function linkedTerm({ civic }: Site, path: string, { name, description }: { name: string; description: string }): object {
  return { '@type': 'DefinedTerm', '@id': civic.url(path), url: civic.url(path), name, description };
}

/** Returns a topic in the words of schema.org. */
function linkedSet({ civic }: Site, { name, href }: { name: string; href: string }): object {
  return { '@type': 'DefinedTermSet', '@id': civic.url(href), url: civic.url(href), name };
}

function shownTopic(domain: TaxonomyDomain, t: Texts) {
  return {
    ...translatedTopic(t, 'domains', domain),
    href: `/domains/${domain.slug}`,
    issues: domain.issue_areas.map((issue) => ({ ...translatedTopic(t, 'issue_areas', issue), href: `/issues/${issue.slug}`, count: issue.entity_count })),
  };
}
