import type { ServerRoute } from '@hapi/hapi';
import { Joi, type Texts } from 'civic';
import type { CoveredPlace, Place } from 'civic/directory';
import type { LoadedPage, Site } from '../site.ts';
import { hrefOf, linkTo } from '../places/words.ts';

/** With more places than this, the page lists states instead of places. */
const MOST = 300;

/** The index of places. */
export function placesPage(site: Site): ServerRoute {
  return site.page({
    path: '/places',
    query: { name: Joi.string().trim().allow('').max(100) },
    async load(request, t) {
      const name = (request.query as { name?: string }).name || undefined;
      const { directory } = site;
      const [total, byState] = [await directory.countCoveredPlaces(), await directory.placesByState()];
      const found = name === undefined ? total : await directory.countCoveredPlaces({ name });
      const places = found > MOST && name === undefined ? [] : await directory.coveredPlaces({ name, limit: MOST });
      const { groups, states } = await groupedPlaces(site, places, byState, t);
      return {
        template: 'places',
        context: {
          title: t('places.title'), description: t('places.lead'), canonical: '/places', isUnlisted: total === 0,
          name, found, total, stateCount: [...byState.keys()].filter(Boolean).length,
          groups, more: places.length === 0 ? 0 : found - places.length,
          states: places.length === 0 && name === undefined ? states : [],
          linkedData: { '@context': 'https://schema.org', '@type': 'CollectionPage', name: t('places.title'), url: site.civic.url('/places') },
        },
      } satisfies LoadedPage;
    },
  });
}

interface Group {
  name: string;
  href: string | null;
  words: string;
  counties: { name: string | null; href: string | null; places: object[] }[];
}

async function groupedPlaces(site: Site, places: CoveredPlace[], byState: Map<string | null, number>, t: Texts): Promise<{ groups: Group[]; states: object[] }> {
  const counts = await site.directory.stateCounts();
  const states = counts.flatMap(({ abbreviation, name, place_key, entity_count }) => {
    const number = byState.get(abbreviation);
    return number ? [{ abbreviation, name, href: hrefOf(place_key), words: t('places.in_state', { places: number, entries: entity_count }) }] : [];
  });
  const elsewhere = byState.get(null) ? [{ name: t('places.elsewhere'), href: null, words: t('places.count', { count: byState.get(null)! }) }] : [];
  const groups = await Promise.all(states.map(async ({ abbreviation, name, href, words }) => ({ name, href, words, counties: await placesByCounty(site, places.filter(({ state }) => state?.abbreviation === abbreviation), t) })));
  return { groups: [...groups.filter(({ counties }) => counties.length > 0), ...await groupedAbroad(site, places.filter(({ state }) => state === null), t)], states: [...states, ...elsewhere] };
}

/** Returns places in no state, grouped by region. */
async function groupedAbroad(site: Site, places: CoveredPlace[], t: Texts): Promise<Group[]> {
  const regionOf = ({ name, display_name: full }: CoveredPlace): string => full.slice(name.length + 2) || t('places.elsewhere');
  const regions = [...new Set(places.map(regionOf))].sort();
  return Promise.all(regions.map(async (name) => {
    const inside = places.filter((place) => regionOf(place) === name);
    return { name, href: null, words: t('places.count', { count: inside.length }), counties: await placesByCounty(site, inside, t) };
  }));
}

/** Returns places of one state, grouped by county; those in no county come first. */
export async function placesByCounty({ civic, directory }: Site, places: CoveredPlace[], t: Texts): Promise<Group['counties']> {
  if (places.length === 0) return [];
  const covered = await directory.coveredIssueCounts(places.map(({ place_key }) => place_key));
  const issues = directory.topics().flatMap(({ issue_areas }) => issue_areas).length;
  const keys = [...new Set(places.map((place) => countyKey(place)))];
  const counties = await directory.places(civic.db.read, keys.filter((key) => key !== null));
  return keys.map((key) => ({
    name: (key && counties.get(key)?.name) ?? null,
    href: key && hrefOf(key),
    places: places.filter((place) => countyKey(place) === key).map((place) => ({ ...linkTo(place), count: place.entity_count, covered: t('places.covered', { covered: covered.get(place.place_key)!, issues }) })),
  })).sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
}

/** Returns the key of the county of a place. A county is in its own group. */
function countyKey({ county, kind, place_key }: Place): string | null {
  return kind === 'county' ? place_key : county;
}
