import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, pagePath, problem, type Texts } from 'civic';
import type { CountyCount, PlaceCounts, StateCount, TaxonomyDomain } from 'civic/directory';
import { drawnMap } from '../map/drawn.ts';
import { levelsFor } from '../map/levels.ts';
import { areaMatcher } from '../map/match.ts';
import { shownMap, type ShownMap } from '../map/shown.ts';
import type { LoadedPage, Site } from '../site.ts';
import { translatedTopic } from '../words.ts';

const query = { issue: Joi.string().allow('').max(200) };

/** The map of the states, and a map of counties for each state. */
export function mapPages(site: Site): ServerRoute[] {
  const { directory } = site;
  return [
    site.page({
      path: '/map',
      query,
      async load(request, t) {
        const chosen = await chosenIssue(site, request, t);
        const [states, places] = [await directory.stateCounts(chosen.slug), await directory.placeCounts(chosen.slug)];
        return linked(site, statesPage({ states, places, chosen }, t));
      },
    }),
    site.page({
      path: '/map/{state_key}',
      query,
      async load(request, t, h) {
        const chosen = await chosenIssue(site, request, t);
        const state = (await directory.stateCounts(chosen.slug)).find(({ place_key }) => place_key === request.params.state_key);
        if (!state) throw problem('not_found');
        if (state.kind === 'district') return h.redirect(pagePath(request, placeHref(state.place_key))).permanent();
        return linked(site, countiesPage({ state, counties: await directory.countyCounts(state.abbreviation, chosen.slug), chosen }, t));
      },
    }),
  ];
}

/** Adds the map in the words of schema.org. */
function linked({ civic }: Site, page: LoadedPage): LoadedPage {
  const { title: name, canonical } = page.context;
  return { ...page, context: { ...page.context, linkedData: { '@context': 'https://schema.org', '@type': 'Map', name, url: civic.url(canonical!) } } };
}

interface Chosen {
  slug: string | undefined;
  name: string | null;
  topics: object[];
  /** How many issues there are. */
  issues: number;
}

/** Reads `?issue=`, and what the form offers. Throws when there is no such issue. */
async function chosenIssue({ directory }: Site, request: Request, t: Texts): Promise<Chosen> {
  const slug = (request.query as { issue?: string }).issue || undefined;
  const name = slug === undefined ? null : translatedTopic(t, 'issue_areas', await directory.issue(slug)).name;
  const domains = await directory.taxonomy();
  return { slug, name, topics: shownTopics(domains, slug, t), issues: domains.flatMap(({ issue_areas }) => issue_areas).length };
}

function statesPage({ states, places, chosen }: { states: StateCount[]; places: PlaceCounts; chosen: Chosen }, t: Texts): LoadedPage {
  const rows = states.map(({ name, abbreviation, place_key, kind, entity_count, covered_count }) => ({
    name, href: stateHref({ place_key, kind }), count: entity_count, places: places.byState.get(abbreviation) ?? 0, covered: t('map.covered_of', { covered: covered_count, issues: chosen.issues }),
  }));
  const listed = divided(rows);
  return {
    template: 'map',
    context: {
      title: chosen.name ? t('map.of_issue', { issue: chosen.name }) : t('map.title'),
      description: t('map.lead'), lead: t('map.lead'), canonical: '/map', topics: chosen.topics, area: t('map.state'), hasCovered: true,
      map: stateMap(states, t), ...listed, without_title: t('map.without', { count: listed.without.length }), outside: outsideOf(places, t),
    },
  };
}

/** Returns what the partial `site/map` shows of all states. */
export function stateMap(states: StateCount[], t: Texts): ShownMap {
  return shownMap(drawnMap('us'), states.map((state) => ({ id: state.fips, name: state.name, count: state.entity_count, href: stateHref(state) })), t);
}

function countiesPage({ state, counties, chosen }: { state: StateCount; counties: CountyCount[]; chosen: Chosen }, t: Texts): LoadedPage {
  const map = drawnMap(state.fips);
  const countyOf = areaMatcher(counties);
  const drawn = map.areas.flatMap(({ id, name }) => {
    const county = countyOf({ id, name });
    return county ? [{ id, name: county.name, href: placeHref(county.place_key), count: county.entity_count, key: county.place_key }] : [];
  });
  const keys = new Set(drawn.map(({ key }) => key));
  const rows = counties.filter(({ place_key, kind, entity_count }) => kind === 'county' || keys.has(place_key) || entity_count > 0)
    .map(({ name, place_key, entity_count, place_count }) => ({ name, href: placeHref(place_key), count: entity_count, places: place_count }));
  const listed = divided(rows);
  const lead = t('map.in_state', { state: state.name, count: state.entity_count });
  return {
    template: 'map',
    context: {
      title: t('map.of_state', { state: state.name }), description: lead, lead, canonical: `/map/${state.place_key}`, crumbs: [{ name: t('map.title'), href: '/map' }],
      topics: chosen.topics, area: t('map.county'), place: { name: t('map.page_of', { state: state.name }), href: placeHref(state.place_key) },
      map: shownMap(map, drawn, t), ...listed, without_title: t('map.without_counties', { count: listed.without.length }),
    },
  };
}

const placeHref = (placeKey: string): string => `/places/${placeKey}`;

/** Returns the address of a state on the map. The District of Columbia has no counties: its link leads to the page of the place. */
const stateHref = ({ place_key, kind }: Pick<StateCount, 'place_key' | 'kind'>): string => (kind === 'district' ? placeHref(place_key) : `/map/${place_key}`);

/** Divides rows into those with entries, the most first, and those without. */
function divided<Row extends { name: string; count: number }>(rows: Row[]): { rows: Row[]; without: Row[] } {
  const sorted = rows.toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  return { rows: sorted.filter(({ count }) => count > 0), without: sorted.filter(({ count }) => count === 0) };
}

/** Returns the places in no state, such as those of the demo, which the map lacks. */
function outsideOf({ outside, outsideTotal }: PlaceCounts, t: Texts) {
  const { levelOf } = levelsFor(outside.map(({ entity_count }) => entity_count));
  return outsideTotal === 0 ? null : {
    title: t('map.outside', { count: outsideTotal }),
    dots: outside.map(({ place, entity_count }) => ({ name: place.name, href: placeHref(place.place_key), count: entity_count, level: levelOf(entity_count) })),
    more: outsideTotal > outside.length ? t('map.more', { count: outsideTotal - outside.length }) : null,
  };
}

function shownTopics(domains: TaxonomyDomain[], chosen: string | undefined, t: Texts): object[] {
  return domains.map((domain) => ({
    name: translatedTopic(t, 'domains', domain).name,
    issues: domain.issue_areas.map((issue) => ({ slug: issue.slug, name: translatedTopic(t, 'issue_areas', issue).name, isChosen: issue.slug === chosen })),
  }));
}
