import type { Texts } from 'civic';
import type { Place } from 'civic/directory';
import { placesByCounty } from '../pages/places.ts';
import type { LoadedPage, Site } from '../site.ts';
import { shownCoverage } from './coverage.ts';
import { shownEvents } from './events.ts';
import { shownSignals } from './timeline.ts';
import { crumbsOf, feedsOf, hrefOf, linkedPlace, linkTo, nearbyLink } from './words.ts';

/** More places than these are shown by county only. */
const MOST = 300;
const EVENTS = 5;
const EVENTS_READ = 50;

/** Loads the page of a state: all entries in its places, by place and by issue. */
export async function statePage(site: Site, place: Place, t: Texts): Promise<LoadedPage> {
  const { directory } = site;
  const { name, place_key: key } = place;
  const state = place.state!.abbreviation;
  const domains = directory.topics();
  const [byIssue, total, placeCount, events, crumbs] = await Promise.all([
    directory.stateIssueCounts(state),
    directory.stateCounts().then((all) => all.find(({ abbreviation }) => abbreviation === state)?.entity_count ?? 0),
    directory.countCoveredPlaces({ state }), directory.placeEvents(key, EVENTS_READ), crumbsOf(site, place, t),
  ]);
  const isEmpty = total === 0;
  return {
    template: 'state',
    context: {
      title: t('place.title', { place: name }), description: isEmpty ? t('place.empty', { place: name }) : t('place.description', { place: name, entries: total }),
      canonical: hrefOf(key), isUnlisted: isEmpty, feeds: feedsOf(place, name, t), linkedData: linkedPlace(site, place, crumbs),
      name, shortName: name, key, state, crumbs, isEmpty, total, placeCount,
      coverage: isEmpty ? null : shownCoverage(domains, (slug) => ({ entity_count: byIssue.get(slug) ?? 0, actors: [] }), `${hrefOf(key)}/entries`, t),
      events: shownEvents(events.slice(0, EVENTS), place.time_zone),
      signals: await shownSignals(site, key, events, t),
      inside: placeCount <= MOST ? await placesByCounty(site, await directory.coveredPlaces({ state, limit: MOST }), t) : [],
      counties: placeCount > MOST ? await shownCounties(site, state, t) : [],
      nearby: isEmpty ? (await directory.nearbyPlaces(key, EVENTS)).map((one) => ({ ...nearbyLink(one, place), count: one.entity_count })) : [],
    },
    ...(events[0]?.event?.start && { validUntil: Date.parse(events[0].event.start) + 1 }),
  };
}

async function shownCounties({ civic, directory }: Site, state: string, t: Texts): Promise<object[]> {
  const counts = await directory.placesByCounty(state);
  const counties = await directory.places(civic.db.read, [...counts.keys()].filter((key) => key !== null));
  return [...counties.values()].map((county) => ({ ...linkTo(county), words: t('places.count', { count: counts.get(county.place_key)! }) })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
