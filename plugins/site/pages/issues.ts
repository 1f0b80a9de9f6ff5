import type { ServerRoute } from '@hapi/hapi';
import type { Texts } from 'civic';
import type { TaxonomyDomain } from 'civic/directory';
import { shownEntries } from '../entries.ts';
import { paging } from '../paging.ts';
import type { LoadedPage, Site } from '../site.ts';
import { translatedTopic } from '../words.ts';

/** The pages of issue areas, which visitors know as issues, and of domains, which they know as topics. */
export function issuePages(site: Site): ServerRoute[] {
  const { directory } = site;
  return [
    site.page({ path: '/issues', load: async (_request, t) => issuesPage(await directory.taxonomy(), t) }),
    site.page({ path: '/domains/{slug}', load: async (request, t) => topicPage(await directory.domain(String(request.params.slug)), t) }),
    site.page({
      path: '/issues/{slug}',
      query: paging,
      async load(request, t) {
        const issue = await directory.issue(String(request.params.slug));
        const { name, description } = translatedTopic(t, 'issue_areas', issue);
        const entries = await directory.entities(request, { issue_area: [issue.slug], sort: 'source_count' });
        return {
          template: 'issue',
          context: {
            title: name, description, name, canonical: `/issues/${issue.slug}`,
            crumbs: [home(t), { name: translatedTopic(t, 'domains', issue.domain).name, href: `/domains/${issue.domain.slug}` }],
            total: entries.total,
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

function topicPage(domain: TaxonomyDomain, t: Texts): LoadedPage {
  const topic = shownTopic(domain, t);
  return { template: 'topic', context: { title: topic.name, canonical: topic.href, crumbs: [home(t)], ...topic } };
}

function shownTopic(domain: TaxonomyDomain, t: Texts) {
  return {
    ...translatedTopic(t, 'domains', domain),
    href: `/domains/${domain.slug}`,
    issues: domain.issue_areas.map((issue) => ({ ...translatedTopic(t, 'issue_areas', issue), href: `/issues/${issue.slug}`, count: issue.entity_count })),
  };
}
