import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, type Texts } from 'civic';
import type { Place } from 'civic/directory';
import { shownEntries } from '../entries.ts';
import { fixedLimit, paging } from '../paging.ts';
import { areaPage, keysInCounty } from '../places/area.ts';
import { hasSheet, shownCoverage } from '../places/coverage.ts';
import { nextChange, shownEvents } from '../places/events.ts';
import { ofPlace } from '../places/found.ts';
import { sheetPage } from '../places/sheet.ts';
import { shownSources } from '../places/sources.ts';
import { shownSignals } from '../places/timeline.ts';
import { crumbsOf, descriptionOf, feedsOf, fullName, hrefOf, isArea, isState, linkedPlace, nearbyLink } from '../places/words.ts';
import type { LoadedPage, Site } from '../site.ts';
import { translatedTopic } from '../words.ts';

const NAMES = 3;
const EVENTS = 5;
/** How many events are read for the coming weeks of the timeline. */
const EVENTS_READ = 50;
const NEARBY = 8;
const SOURCES = 5;
/** How many entries are listed when none of them names an issue. */
const LISTED = 10;

const TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'];
const SORTS = ['relevance', 'source_count', 'name', 'recent'] as const;
type Sort = typeof SORTS[number];
const filters = { issue_area: Joi.string().max(100), entity_type: Joi.string().valid(...TYPES), query: Joi.string().trim().max(300), sort: Joi.string().valid(...SORTS) };
interface Filters { issue_area?: string; entity_type?: string; query?: string; sort?: Sort }

/** The pages of a place: a town, a county, a state. */
export function placePages(site: Site): ServerRoute[] {
  return [
    site.page({ path: '/places/{place_key}', query: { limit: fixedLimit(LISTED) }, load: ofPlace(site, '', async (place, request, t) => withParts(await (isArea(place) ? areaPage(site, place, t) : placePage(site, place, request, t)), await site.civic.pages.parts('site.place', request))) }),
    site.page({ path: '/places/{place_key}/entries', query: { ...filters, ...paging }, load: ofPlace(site, '/entries', (place, request, t) => entriesPage(site, place, request, t)) }),
    site.page({ path: '/places/{place_key}/sources', query: paging, load: ofPlace(site, '/sources', (place, request, t) => sourcesPage(site, place, request, t)) }),
    site.page({ path: '/places/{place_key}/sheet', load: ofPlace(site, '/sheet', (place, _request, t) => sheetPage(site, place, t)) }),
  ];
}

function withParts(page: LoadedPage, more: unknown): LoadedPage {
  return { ...page, context: { ...page.context, more } };
}

async function placePage(site: Site, place: Place, request: Request, t: Texts): Promise<LoadedPage> {
  const { directory } = site;
  const { place_key: key, time_zone: timeZone } = place;
  const name = fullName(place);
  const domains = directory.topics();
  const [overview, crumbs, nearby, entered, meetings] = await Promise.all([
    directory.placeOverview(key, NAMES), crumbsOf(site, place, t), directory.nearbyPlaces(key, NEARBY), directory.placeEvents(key, EVENTS_READ), directory.comingMeetings([key], EVENTS_READ),
  ]);
  const events = shownEvents(entered, meetings, timeZone);
  const isEmpty = overview.entity_count === 0;
  const coverage = isEmpty ? null : shownCoverage(domains, (slug) => overview.issues.get(slug), `${hrefOf(key)}/entries`, t);
  const listed = coverage?.isEmpty ? (await directory.placeEntities(request, key, { sort: 'source_count' })).data : [];
  const feeds = feedsOf(`/api/places/${key}`, name, t);
  return {
    template: 'place',
    context: {
      title: t('place.title', { place: name }), description: descriptionOf(name, overview.entity_count, events, t),
      canonical: hrefOf(key), isUnlisted: isEmpty, feeds, linkedData: linkedPlace(site, place, crumbs),
      name, shortName: place.name, key, search: [{ name: 'place', value: key }], crumbs, isEmpty, overview, hasSheet: hasSheet(coverage, events), freshness: freshnessOf(overview.freshness),
      coverage, entries: shownEntries(listed, t),
      events: events.slice(0, EVENTS),
      signals: await shownSignals(site, [key], events, t),
      sources: isEmpty ? [] : shownSources(await directory.latestSources(key, SOURCES), t),
      partOf: crumbs.slice(1).toReversed(), nearby: nearby.map((one) => ({ ...nearbyLink(one, place), count: one.entity_count })),
    },
    // The page lists coming events, so it expires when the first one begins.
    validUntil: nextChange(events),
  };
}

/** Returns the kinds of freshness that some entries have. */
function freshnessOf(counts: Record<string, number>): { status: string; count: number }[] {
  return ['fresh', 'aging', 'stale', 'unknown'].map((status) => ({ status, count: counts[status]! })).filter(({ count }) => count > 0);
}

async function entriesPage(site: Site, place: Place, request: Request, t: Texts): Promise<LoadedPage> {
  const { directory } = site;
  const given = request.query as Filters;
  const name = fullName(place);
  const href = `${hrefOf(place.place_key)}/entries`;
  const query = {
    ...(given.issue_area && { issue_area: [given.issue_area] }), ...(given.query && { query: given.query }),
    sort: sortOf(given),
  };
  const type = given.entity_type ? { entity_type: [given.entity_type] as [never] } : {};
  const domains = directory.topics();
  const [entries, crumbs] = await Promise.all([
    isArea(place) ? directory.entities(request, { ...query, ...type, ...await areaFilter(site, place) }) : directory.placeEntities(request, place.place_key, { ...query, ...type }),
    crumbsOf(site, place, t, true),
  ]);
  const address = (more: Record<string, string>): string => `${href}?${new URLSearchParams({ ...Object.fromEntries(Object.entries(given).filter(([filter, value]) => filter in filters && value)), ...more } as Record<string, string>)}`;
  return {
    template: 'place-entries',
    context: {
      title: t('place.entries_title', { place: name }), canonical: href, isUnlisted: true, crumbs, query: given.query, total: entries.total,
      entries: shownEntries(entries.data, t),
      sort: given.sort,
      sorts: SORTS.filter((sort) => given.query || sort !== 'relevance').map((sort) => ({ name: t(`search.sorts.${sort}`), href: address({ sort }), isHere: sort === sortOf(given) })),
      types: TYPES.map((value) => ({ value, name: t(`types.${value}`), isChosen: value === given.entity_type })),
      topics: domains.map((domain) => ({
        name: translatedTopic(t, 'domains', domain).name,
        issues: domain.issue_areas.map((area) => ({ slug: area.slug, name: translatedTopic(t, 'issue_areas', area).name, isChosen: area.slug === given.issue_area })),
      })),
      next: entries.next_cursor && address({ cursor: entries.next_cursor }),
    },
  };
}

/** Returns the sort order to use. Without words there is no best match. */
function sortOf({ query, sort }: Filters): Sort {
  const usual = query ? 'relevance' : 'source_count';
  return sort === 'relevance' ? usual : sort ?? usual;
}

async function areaFilter(site: Site, place: Place): Promise<{ state: string } | { place: string[] }> {
  return isState(place) ? { state: place.state!.abbreviation.toLowerCase() } : { place: await keysInCounty(site, place) };
}

async function sourcesPage(site: Site, place: Place, request: Request, t: Texts): Promise<LoadedPage> {
  const { data, total, next_cursor: next } = await site.directory.placeSources(request, place.place_key);
  const href = `${hrefOf(place.place_key)}/sources`;
  return {
    template: 'place-sources',
    context: {
      title: t('place.sources_title', { place: fullName(place) }), canonical: href, isUnlisted: true, crumbs: await crumbsOf(site, place, t, true),
      total, sources: shownSources(data, t), next: next && `${href}?cursor=${next}`,
    },
  };
}
