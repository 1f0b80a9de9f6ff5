import type { ServerRoute } from '@hapi/hapi';
import { Joi, type Texts } from 'civic';
import type { PlaceCounts, StateCount, TaxonomyDomain } from 'civic/directory';
import { drawnMap } from '../map/drawn.ts';
import { levelsFor } from '../map/levels.ts';
import { shownMap, type ShownMap } from '../map/shown.ts';
import type { Site } from '../site.ts';
import { translatedTopic } from '../words.ts';

const query = { issue: Joi.string().allow('').max(200) };

/** The map of the states. */
export function mapPages(site: Site): ServerRoute[] {
  const { directory } = site;
  return [
    site.page({
      path: '/map',
      query,
      async load(request, t) {
        const slug = (request.query as { issue?: string }).issue || undefined;
        const issue = slug === undefined ? null : await directory.issue(slug);
        const [states, places, domains] = [await directory.stateCounts(slug), await directory.placeCounts(slug), await directory.taxonomy()];
        const name = issue && translatedTopic(t, 'issue_areas', issue).name;
        return {
          template: 'map',
          context: {
            title: name ? t('map.of_issue', { issue: name }) : t('map.title'),
            description: t('map.lead'),
            lead: t('map.lead'),
            canonical: '/map',
            topics: shownTopics(domains, slug, t),
            map: stateMap(states, t),
            ...rowsOf(states, places, domains.flatMap(({ issue_areas }) => issue_areas).length, t),
            outside: outsideOf(places, t),
          },
        };
      },
    }),
  ];
}

/** Returns what the partial `site/map` shows of all states. */
export function stateMap(states: StateCount[], t: Texts): ShownMap {
  return shownMap(drawnMap('us'), states.map(({ fips, name, entity_count, place_key }) => ({ id: fips, name, count: entity_count, href: hrefOf(place_key) })), t);
}

const hrefOf = (placeKey: string): string => `/places/${placeKey}`;

function rowsOf(states: StateCount[], { byState }: PlaceCounts, issues: number, t: Texts) {
  const rows = states.map(({ name, abbreviation, place_key, entity_count, covered_count }) => ({
    name, href: hrefOf(place_key), count: entity_count, places: byState.get(abbreviation) ?? 0, covered: t('map.covered_of', { covered: covered_count, issues }),
  })).toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  return { rows: rows.filter(({ count }) => count > 0), without: rows.filter(({ count }) => count === 0) };
}

/** Places in no state, such as those of the demo. */
function outsideOf({ outside, outsideTotal }: PlaceCounts, t: Texts) {
  const { levelOf } = levelsFor(outside.map(({ entity_count }) => entity_count));
  return outsideTotal === 0 ? null : {
    title: t('map.outside', { count: outsideTotal }),
    dots: outside.map(({ place, entity_count }) => ({ name: place.name, href: hrefOf(place.place_key), count: entity_count, level: levelOf(entity_count) })),
    more: outsideTotal > outside.length ? t('map.more', { count: outsideTotal - outside.length }) : null,
  };
}

function shownTopics(domains: TaxonomyDomain[], chosen: string | undefined, t: Texts) {
  return domains.map((domain) => ({
    name: translatedTopic(t, 'domains', domain).name,
    issues: domain.issue_areas.map((issue) => ({ slug: issue.slug, name: translatedTopic(t, 'issue_areas', issue).name, isChosen: issue.slug === chosen })),
  }));
}
