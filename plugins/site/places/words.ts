import type { Texts } from 'civic';
import type { Place } from 'civic/directory';
import type { Site } from '../site.ts';

export interface PlaceLink {
  name: string;
  href: string;
}

export const isState = ({ kind }: Pick<Place, 'kind'>): boolean => kind === 'state' || kind === 'territory';
/** Whether the place is a county or a state, whose page also shows the places in it. */
export const isArea = (place: Place): boolean => place.state !== null && (isState(place) || place.kind === 'county');
export const hrefOf = (placeKey: string): string => `/places/${placeKey}`;
export const linkTo = ({ name, place_key }: Pick<Place, 'name' | 'place_key'>): PlaceLink => ({ name, href: hrefOf(place_key) });

/** Returns the name with the state, or with region and country: "Kansas City, Missouri"; "Toronto, Ontario, Canada". */
export function fullName(place: Place): string {
  if (place.state === null) return place.display_name;
  return isState(place) ? place.name : `${place.name}, ${place.state.name}`;
}

/** Returns the description of the page of a place for search engines. */
export function descriptionOf(place: string, entries: number, events: unknown[], t: Texts): string {
  if (entries > 0) return t('place.description', { place, entries });
  return events.length > 0 ? t('place.meetings_description', { place }) : t('place.empty', { place });
}

/** Returns a link to a place near another. The name includes the state only when the two places are in different states. */
export function nearbyLink(near: Place, place: Place): PlaceLink {
  const isSame = near.state?.slug === place.state?.slug && near.country === place.country && (near.state !== null || regionOf(near) === regionOf(place));
  return { name: isSame ? near.name : near.state ? near.display_name : fullName(near), href: hrefOf(near.place_key) };
}

const regionOf = ({ place_key: key }: Place): string => key.slice(key.indexOf(','));

/** Returns the breadcrumbs of a place: the page of all places, its state and its county. With `isBelow` also the place itself. */
export async function crumbsOf({ civic, directory }: Site, place: Place, t: Texts, isBelow = false): Promise<PlaceLink[]> {
  const county = place.county === null ? undefined : (await directory.places(civic.db.read, [place.county])).get(place.county);
  return [
    { name: t('places.title'), href: '/places' },
    ...(place.state && !isState(place) && place.state.slug !== place.place_key && place.kind !== 'district' ? [{ name: place.state.name, href: hrefOf(place.state.slug) }] : []),
    ...(county ? [linkTo(county)] : []),
    ...(isBelow ? [linkTo(place)] : []),
  ];
}

export interface PlaceFeed {
  type: string;
  title: string;
  path: string;
  label: string;
}

/** Returns the feeds of a place or an issue, by its path in the API. */
export function feedsOf(path: string, name: string, t: Texts): PlaceFeed[] {
  return [
    { type: 'text/calendar', title: t('place.feed_calendar', { place: name }), path: `${path}/meetings.ics`, label: t('place.calendar') },
    { type: 'application/atom+xml', title: t('place.feed_entries', { place: name }), path: `${path}/feed.atom`, label: 'Atom' },
    { type: 'application/feed+json', title: t('place.feed_entries', { place: name }), path: `${path}/feed.json`, label: 'JSON Feed' },
  ];
}

/** Returns the place as linked data of schema.org. */
export function linkedPlace({ civic }: Site, place: Place, crumbs: PlaceLink[]): object {
  const type = isState(place) ? 'State' : place.kind === 'county' ? 'AdministrativeArea' : 'City';
  const [parent] = crumbs.slice(1).toReversed();
  return {
    '@context': 'https://schema.org', '@type': type, '@id': civic.url(hrefOf(place.place_key)), name: place.name, url: civic.url(hrefOf(place.place_key)),
    ...(place.latitude !== null && { geo: { '@type': 'GeoCoordinates', latitude: place.latitude, longitude: place.longitude } }),
    ...(place.ocd_id && { identifier: place.ocd_id }),
    ...(parent ? { containedInPlace: { '@type': 'AdministrativeArea', name: parent.name, url: civic.url(parent.href) } } : { containedInPlace: { '@type': 'Country', name: place.country } }),
  };
}
