import { countryName, divisionByText } from './abroad.ts';
import { legalName, slugOf } from './names.ts';
import type { OwnPlace } from './store.ts';
import { stateByAbbreviation } from './states.ts';

/** A row of a file of Open Civic Data divisions: columns by name, all optional but `id` and `name`. */
export type DivisionRow = Record<string, string | undefined>;

/** A place to add, with the keys it may get, the plainest first. */
export interface DivisionPlace {
  place: Omit<OwnPlace, 'place_key'> & { ocd_id: string };
  keys: string[];
}

/** What becomes of a row: a place, a fault, or the reason why the row is no place to add. */
export type ReadDivision = DivisionPlace | { fault: string } | { skipped: string };

const ID = /^ocd-division\/country:([a-z]{2})((?:\/[a-z_]+:[^/:\s]+)*)$/u;

/** Types of divisions that are places, with their kind where the name does not tell it. */
const PLACE_TYPES: Record<string, string> = {
  place: 'city', city: 'city', town: 'town', village: 'village', township: 'township', borough: 'borough', municipality: 'municipality', municipio: 'municipio', commune: 'municipality', csd: 'municipality',
  county: 'county', parish: 'county', census_area: 'county', local_authority: 'municipality',
};
const REGION_TYPES = ['state', 'province', 'territory', 'district', 'region', 'land'];

/** Canada's census subdivisions have the number of their province in front. */
const CANADA: Record<string, string> = {
  10: 'Newfoundland and Labrador', 11: 'Prince Edward Island', 12: 'Nova Scotia', 13: 'New Brunswick', 24: 'Quebec', 35: 'Ontario', 46: 'Manitoba', 47: 'Saskatchewan', 48: 'Alberta',
  59: 'British Columbia', 60: 'Yukon', 61: 'Northwest Territories', 62: 'Nunavut',
};

/** Reads a row strictly. `nameOf` gives the name that the file has for another division. */
export function readDivision(row: DivisionRow, nameOf: (id: string) => string | undefined, today: string): ReadDivision {
  const [id, name] = [row.id?.trim() ?? '', row.name?.trim() ?? ''];
  const match = ID.exec(id);
  if (!match) return { fault: id === '' ? 'it has no id' : `"${id.slice(0, 100)}" is no OCD id, as ocd-division/country:us/state:mo/place:st_louis` };
  if (name === '' || name.length > 200) return { fault: name === '' ? 'it has no name' : 'its name is longer than 200 characters' };
  const country = match[1]!.toUpperCase();
  const steps = match[2]!.split('/').slice(1).map((step) => step.split(':') as [type: string, ending: string]);
  const [type, ending] = steps.at(-1) ?? ['country', ''];
  if (!Object.hasOwn(PLACE_TYPES, type)) return { skipped: type };
  if (row.validThrough && row.validThrough < today) return { skipped: 'ended' };
  const numbers = numbersOf(row);
  if ('fault' in numbers) return numbers;
  const where = regionOf(id, country, steps, nameOf);
  if ('fault' in where) return where;
  const legal = type === 'county' ? null : legalName(name);
  const plain = legal?.plain ?? name;
  const kind = legal?.kinds[0] ?? PLACE_TYPES[type]!;
  const county = steps.length > 1 ? steps.at(-2)! : null;
  const slug = slugOf(plain);
  if (slug === '') return { fault: `a name of letters is needed, and "${name}" has none` };
  const typed = slug.endsWith(`-${kind}`) ? slug : `${slug}-${kind}`;
  const endings = [slug, typed, ...(county && ['county', 'parish'].includes(county[0]) ? [`${typed}-${slugOf(county[1].replaceAll('_', ' '))}-county`] : []), `${typed}-${slugOf(ending)}`];
  return {
    place: { name: kind === 'township' ? `${plain} Township` : plain, kind, country, state: where.state, admin1: where.admin1, ...numbers, ocd_id: id },
    keys: [...new Set(endings)].map((one) => `${one},${where.slug}`),
  };
}

function regionOf(id: string, country: string, steps: [string, string][], nameOf: (id: string) => string | undefined): { state: string | null; admin1: string | null; slug: string } | { fault: string } {
  const [type, ending] = steps.find(([step]) => REGION_TYPES.includes(step)) ?? [];
  if (country === 'US') {
    const state = ending === undefined ? null : stateByAbbreviation(ending);
    return state ? { state: state.abbreviation, admin1: null, slug: state.slug } : { fault: `"${id}" names no state of the US` };
  }
  const [last, number] = steps.at(-1)!;
  const parent = `ocd-division/country:${country.toLowerCase()}/${type}:${ending}`;
  const admin1 = country === 'CA' && last === 'csd' ? CANADA[number.slice(0, 2)] ?? null : ending === undefined ? null : nameOf(parent) ?? divisionByText(ending) ?? ending.replaceAll('_', ' ');
  return { state: null, admin1, slug: slugOf(admin1 ?? countryName(country)) };
}

const LIMITS = { latitude: 90, longitude: 180, population: 2_000_000_000 };

/** Columns that other lists have besides: coordinates in degrees and a population. */
function numbersOf(row: DivisionRow): Pick<OwnPlace, 'latitude' | 'longitude' | 'population'> | { fault: string } {
  const given = { latitude: row.latitude ?? row.lat, longitude: row.longitude ?? row.lon ?? row.lng, population: row.population };
  const numbers = { latitude: null, longitude: null, population: null } as Pick<OwnPlace, 'latitude' | 'longitude' | 'population'>;
  for (const name of ['latitude', 'longitude', 'population'] as const) {
    const text = given[name]?.trim() ?? '';
    if (text === '') continue;
    const value = Number(text);
    const isFine = name === 'population' ? Number.isInteger(value) && value >= 0 && value <= LIMITS[name] : Math.abs(value) <= LIMITS[name];
    if (!isFine) return { fault: `its ${name} "${text.slice(0, 40)}" is no ${name}` };
    numbers[name] = value;
  }
  if ((numbers.latitude === null) !== (numbers.longitude === null)) return { fault: 'latitude and longitude come together' };
  return numbers;
}
