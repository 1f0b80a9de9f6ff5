import type { Texts } from 'civic';
import type { Actor, Area, CoveredPlace, NamedActor, Place } from 'civic/directory';
import { placesByCounty } from '../pages/places.ts';
import type { LoadedPage, Site } from '../site.ts';
import { hasSheet, shownCoverage } from './coverage.ts';
import { nextChange, shownEvents } from './events.ts';
import { shownSignals } from './timeline.ts';
import { crumbsOf, descriptionOf, feedsOf, fullName, hrefOf, isArea, isState, linkedPlace, linkTo, nearbyLink } from './words.ts';

/** With more places than this, the page lists counties instead of places. */
const MOST = 300;
const EVENTS = 5;
/** How many events are read for the coming weeks of the timeline. */
const EVENTS_READ = 25;
const NAMES = 3;
/** The most places that a filter accepts. */
const MOST_FILTERED = 20;

/** The number of entries of a place, and its issues. A county or state includes the places in it. */
export interface Overview {
  entity_count: number;
  issues: Map<string, { entity_count: number; actors: NamedActor[] }>;
}

export function overviewOf({ directory }: Site, place: Place, names: number): Promise<Overview> {
  return isArea(place) ? directory.areaOverview(areaOf(place), names) : directory.placeOverview(place.place_key, names);
}

export function eventsOf({ directory }: Site, place: Place, limit: number): Promise<Actor[]> {
  return isArea(place) ? directory.areaEvents(areaOf(place), limit) : directory.placeEvents(place.place_key, limit);
}

function areaOf({ place_key: county, state, ...place }: Place): Area {
  const { abbreviation } = state!;
  return isState(place) ? { state: abbreviation } : { state: abbreviation, county };
}

/** Returns the key of a county, and those of its places with entries. */
export async function keysInCounty({ directory }: Site, { place_key: county, state }: Place): Promise<string[]> {
  return [county, ...(await directory.coveredPlaces({ state: state!.abbreviation, county, limit: MOST })).map(({ place_key: key }) => key)];
}

/** Loads the page of a county or state: all entries in its places, by issue and by place. */
export async function areaPage(site: Site, place: Place, t: Texts): Promise<LoadedPage> {
  const { directory } = site;
  const { place_key: key, name: shortName } = place;
  const name = fullName(place);
  const kind = isState(place) ? 'state' : 'county';
  const filter = { state: place.state!.abbreviation, ...(kind === 'county' && { county: key }) };
  const [overview, own, placeCount, entered, crumbs] = await Promise.all([
    overviewOf(site, place, NAMES), directory.placeOverview(key, 0), directory.countCoveredPlaces(filter), eventsOf(site, place, EVENTS_READ), crumbsOf(site, place, t),
  ]);
  const inside = placeCount <= MOST ? await directory.coveredPlaces({ ...filter, limit: MOST }) : [];
  const keys = [key, ...inside.map(({ place_key }) => place_key)].filter((one, at, all) => all.indexOf(one) === at);
  const events = shownEvents(entered, await directory.comingMeetings(keys, EVENTS_READ), place.time_zone);
  const { entity_count: total, issues } = overview;
  const isEmpty = total === 0;
  const coverage = isEmpty ? null : shownCoverage(directory.topics(), (slug) => issues.get(slug), `${hrefOf(key)}/entries`, t);
  return {
    template: 'area',
    context: {
      title: t('place.title', { place: name }), description: descriptionOf(name, total, events, t),
      // The feeds contain only entries of the area itself, not of the places in it.
      canonical: hrefOf(key), isUnlisted: isEmpty, feeds: own.entity_count > 0 || (isEmpty && events.length > 0) ? feedsOf(`/api/places/${key}`, name, t) : [], linkedData: linkedPlace(site, place, crumbs),
      name, shortName, key, crumbs, isEmpty, total, placeCount,
      numbers: t(`place.${kind}_numbers`, { entries: total, places: placeCount }), own: own.entity_count > 0 && t(`place.${kind}_own`, { count: own.entity_count }),
      // The maps have no territories.
      search: searchOf(place, keys), map: place.kind === 'state' && `/map/${key}`,
      coverage, hasSheet: hasSheet(coverage, events),
      events: events.slice(0, EVENTS),
      signals: await shownSignals(site, keys.length <= MOST_FILTERED ? keys : [key], events, t),
      inside: await placesIn(site, place, inside, t),
      counties: placeCount > MOST ? await shownCounties(site, filter.state, t) : [],
      nearby: isEmpty ? (await directory.nearbyPlaces(key, EVENTS)).map((one) => ({ ...nearbyLink(one, place), count: one.entity_count })) : [],
    },
    validUntil: nextChange(events),
  };
}

/** Returns the filter of a search in the area; none when it has too many places. */
function searchOf(place: Place, keys: string[]): { name: string; value: string }[] {
  if (isState(place)) return [{ name: 'state', value: place.state!.abbreviation }];
  return keys.length <= MOST_FILTERED ? keys.map((value) => ({ name: 'place', value })) : [];
}

/** Returns places grouped by county. On the page of a county, the group has no heading. */
async function placesIn(site: Site, place: Place, inside: CoveredPlace[], t: Texts): Promise<object[]> {
  const counties = await placesByCounty(site, inside.filter(({ place_key: key }) => key !== place.place_key), t);
  return isState(place) ? counties : counties.map((county) => ({ ...county, name: null }));
}

async function shownCounties({ civic, directory }: Site, state: string, t: Texts): Promise<object[]> {
  const counts = await directory.placesByCounty(state);
  const counties = await directory.places(civic.db.read, [...counts.keys()].filter((key) => key !== null));
  return [...counties.values()].map((county) => ({ ...linkTo(county), words: t('places.count', { count: counts.get(county.place_key)! }) })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
