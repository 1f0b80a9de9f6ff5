import { readFileSync } from 'node:fs';
import { counties } from './counties.ts';
import type { PlaceCore } from './gazetteer.ts';
import { ocdName, slugOf, squash } from './names.ts';
import { ocdOfState, stateByAbbreviation, type State } from './states.ts';

/** A government below the state as the Census Bureau lists it: a city, a town, a township. */
export interface Government {
  state: State;
  /** Of one below a county, the ending of the county's OCD id. */
  county: string | null;
  /** A key of `TYPES`. */
  type: string;
  /** Without its legal type, except those that are named by it ("Township 1"). */
  name: string;
  ocd_id: string;
  /** The census code, unique in its state, when the packages lack this government. */
  code: number | null;
  /** The key of the row of the packages that is this government, when its OCD id does not show that by itself. */
  row: number | null;
}

interface Type {
  kind: string;
  /** Of its OCD id: `place` when absent. */
  division?: string;
  /** What its name has behind it when it is shown. */
  suffix?: string;
}

/** The types of `data/governments.txt`. `government` is for consolidated ones, whose names contain what they are. */
export const TYPES: Record<string, Type> = {
  city: { kind: 'city' }, town: { kind: 'town' }, village: { kind: 'village' }, borough: { kind: 'borough' }, plantation: { kind: 'plantation' }, municipality: { kind: 'municipality' },
  township: { kind: 'township', suffix: ' Township' }, charter_township: { kind: 'township', suffix: ' Charter Township' }, government: { kind: 'city' },
  municipio: { kind: 'municipio', division: 'municipio' }, county_borough: { kind: 'county', division: 'borough' }, census_area: { kind: 'county', division: 'census_area' },
};

/** Where keys of places begin that only the census has; the number of the state and the census code are added. */
const CENSUS_KEYS = 1_990_000_000;
const ENTRY = /^([^=#@]+)(?:=([^#@]+))?(?:#(\d+))?(?:@(\d+))?$/;

/** Reads the lines of `data/governments.txt`: a state, or a state and a county, a type, and entries that are separated by `|`. */
export function parseGovernments(text: string): Government[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).flatMap((line) => {
    const [where, type] = line.split(' ', 2) as [string, string];
    const [abbreviation, county = null] = where.split('/') as [string, string?];
    const state = stateByAbbreviation(abbreviation)!;
    const parent = `${ocdOfState(state)}/${county === null ? '' : `county:${county}/`}${TYPES[type]!.division ?? 'place'}:`;
    return line.slice(where.length + type.length + 2).split('|').map((entry): Government => {
      const [, name, ending, code, row] = ENTRY.exec(entry) as unknown as [string, string, string?, string?, string?];
      return { state, county, type, name, ocd_id: parent + (ending ?? ocdName(name)), code: code ? Number(code) : null, row: row ? Number(row) : null };
    });
  });
}

export function readGovernments(): Government[] {
  return parseGovernments(readGovernmentsText());
}

export function readGovernmentsText(): string {
  return readFileSync(new URL('plugins/directory/places/data/governments.txt', import.meta.resolve('civic/package.json')), 'utf8');
}

/** Marks the rows that are governments with their kind and OCD id, and returns rows for the governments that have none. */
export function governmentRows(governments: Government[], rows: PlaceCore[], taken: Set<string>): PlaceCore[] {
  const american = rows.filter(({ state }) => state !== null);
  const byId = new Map(american.map((row) => [row.ocd_id, row]));
  const byKey = new Map(american.map((row) => [row.key, row]));
  const added: Government[] = [];
  for (const government of governments) {
    const row = government.row === null ? byId.get(government.ocd_id) : byKey.get(government.row);
    if (!row) {
      added.push(government);
      continue;
    }
    row.ocd_id = government.ocd_id;
    row.kind = TYPES[government.type]!.kind;
    if (government.county !== null) row.squashed = squash(government.name);
  }
  const keyOf = placeKeys(governments, added, taken);
  return added.map((government) => rowOf(government, keyOf(government)));
}

function rowOf(government: Government, { placeKey, hasCounty }: GovernmentKey): PlaceCore {
  const { state, county, type, name, code } = government;
  const { kind, suffix = '' } = TYPES[type]!;
  const shown = isNamedByType(government) ? name : name + suffix;
  return {
    key: CENSUS_KEYS + state.fips * 100_000 + code!, place_key: placeKey, name: hasCounty ? `${shown}, ${countyName(state, county!)}` : shown, squashed: squash(name),
    state: state.abbreviation, admin1: null, country: 'US', kind, latitude: null, longitude: null, population: null, ocd_id: government.ocd_id,
  };
}

/** "Township 1". */
const isNamedByType = ({ type, name }: Government) => name.toLowerCase().startsWith(`${type} `);

const namesOfCounties = new Map(counties().map(({ state, plain, name }) => [`${state} ${ocdName(plain)}`, name]));

function countyName({ abbreviation }: State, ending: string): string {
  return namesOfCounties.get(`${abbreviation} ${ending}`) ?? `${ending.replaceAll('_', ' ')} county`;
}

interface GovernmentKey {
  placeKey: string;
  hasCounty: boolean;
}

/**
 * The plain name when no other place has it and no other government here wants it; else the name with its type; where
 * several governments of the state have both in common, with the county too. Nothing else tells two townships apart.
 */
function placeKeys(governments: Government[], added: Government[], taken: Set<string>): (government: Government) => GovernmentKey {
  const named = ({ state, name }: Government) => `${state.abbreviation} ${name}`;
  const typed = (government: Government) => `${named(government)} ${TYPES[government.type]!.kind}`;
  const ofState = countOf(added.filter(({ county }) => county === null).map(named));
  const belowCounty = countOf(added.filter(({ county }) => county !== null).map(named));
  const ofType = countOf(governments.map(typed));
  return (government) => {
    const { state, county, type, name, ocd_id: id, code } = government;
    const slug = slugOf(name);
    const withType = isNamedByType(government) ? slug : `${slug}-${TYPES[type]!.kind}`;
    const isOnly = county === null ? ofState.get(named(government)) === 1 : belowCounty.get(named(government)) === 1 && !ofState.has(named(government));
    const ending = slugOf(id.slice(id.lastIndexOf(':') + 1).replaceAll('_', ' '));
    const withCounty = county === null ? ending : `${withType}-${slugOf(county.replaceAll('_', ' '))}-county`;
    const wanted = [...(isOnly ? [slug] : []), ...(ofType.get(typed(government)) === 1 ? [withType] : []), withCounty, `${ending}-${code}`];
    const free = wanted.find((one) => !taken.has(`${one},${state.slug}`))!;
    const placeKey = `${free},${state.slug}`;
    taken.add(placeKey);
    return { placeKey, hasCounty: county !== null && free === withCounty };
  };
}

function countOf(keys: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
