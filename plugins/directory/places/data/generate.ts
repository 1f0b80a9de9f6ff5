import { parse } from 'csv-parse/sync';
import { readFileSync, writeFileSync } from 'node:fs';
import { ROW_ENDS } from '../../transfer/table.ts';
import { readPackages, type PlaceCore } from '../gazetteer.ts';
import { TYPES } from '../governments.ts';
import { ocdName, squash } from '../names.ts';
import { countyFinder } from '../atlas.ts';
import { stateByAbbreviation } from '../states.ts';

// Writes governments.txt anew: node dist/plugins/directory/places/data/generate.js <csv> <atlas> <output>
// <csv>: identifiers/country-us/us_census_places.csv of github.com/opencivicdata/ocd-division-ids
// <atlas>: counties-10m.json of the npm package us-atlas, to find the county of a place
const [csv, atlas, output] = process.argv.slice(2) as [string, string, string];

const HEADER = `# Governments of the United States below the states: names, types and codes of the U.S. Census Bureau (public domain), by way of
# the division ids of Open Civic Data (CC0): identifiers/country-us/us_census_places.csv. Generated on ${new Date().toISOString().slice(0, 10)} by generate.ts; do not edit.
# A line is a state or a state and a county, a type, and entries: the name, =ending of the OCD id where the name does not give it,
# #census code of one that the packages lack, @key of the place of the packages that it is where the OCD id does not show that.
`;

/** Governments that were founded since the list was made. */
const NEWER = [{ id: 'ocd-division/country:us/state:ga/place:south_fulton', name: 'South Fulton city', census_geoid: 'place-1372122' }];

interface Listed {
  id: string;
  where: string;
  state: string;
  county: string | null;
  type: string;
  name: string;
  ending: string;
  geoid: string;
}

const ID = /^ocd-division\/country:us\/(?:state|territory):(\w\w)\/(?:county:([^/]+)\/)?(\w+):(.+)$/;
const LEGAL = /^(.+?) (city and borough|charter township|township|town|city|village|borough|plantation|municipality|Municipio|corporation)$/;

function listed({ id, name, census_geoid: geoid }: { id: string; name: string; census_geoid: string }): Listed[] {
  const [, state, county, division, ending] = ID.exec(id) as unknown as [string, string, string | undefined, string, string];
  // Counties and parishes are in counties.ts.
  if (division === 'county' || division === 'parish' || (division === 'borough' && / Borough$/.test(name) && !/ and Borough$/.test(name))) return [];
  const legal = division === 'place' || division === 'municipio' ? LEGAL.exec(name) : null;
  const type = division === 'borough' ? 'county_borough' : division === 'census_area' ? division : typeOf(name, legal?.[2]);
  const plain = legal && type !== 'government' ? legal[1]! : name;
  return [{ id, where: state.toUpperCase() + (county ? `/${county}` : ''), state: state.toUpperCase(), county: county ?? null, type, name: plain, ending, geoid: geoid.replace('place-', '') }];
}

function typeOf(name: string, legal: string | undefined): string {
  if (/^Township \d/.test(name)) return 'township';
  const type = legal?.toLowerCase().replace('city and borough', 'municipality').replace(' ', '_').replace('corporation', 'town') ?? 'government';
  if (!(type in TYPES)) throw new Error(`${name} is of an unknown type`);
  return type;
}

/** Of two of one name, the one that the packages are likelier to mean. */
const PREFERRED = ['city', 'borough', 'town', 'village', 'municipality', 'plantation', 'charter_township', 'township'];

/** The rows that governments are, by name, state and, where the census gives one, county. */
function rowsOf(governments: Listed[], places: PlaceCore[], countyNames: Map<string, string>): Map<Listed, PlaceCore> {
  const countyAt = countyFinder(atlas);
  const isIn = ({ latitude, longitude }: PlaceCore, { geoid, ending }: Listed): boolean => {
    const county = latitude === null ? null : countyAt(longitude!, latitude);
    // Ten digits: the state, the county, the government. Seven: a place, which may lie in several counties; some ids name them.
    if (geoid.length === 10) return county === geoid.slice(0, 5);
    const among = /_~(.+)_count(?:y|ies)~$/.exec(ending)?.[1]?.split('~');
    return !among || among.includes(countyNames.get(county ?? '') ?? '');
  };
  const byId = new Map(places.map((row) => [row.ocd_id, row]));
  const found = new Map<Listed, PlaceCore>();
  const claimed = new Set<PlaceCore>();
  const claim = (government: Listed, row: PlaceCore | undefined): void => {
    if (!row || found.has(government) || claimed.has(row)) return;
    found.set(government, row);
    claimed.add(row);
  };
  for (const government of governments) claim(government, byId.get(government.id));
  const named = new Map<string, PlaceCore[]>();
  for (const row of places) named.set(`${row.state} ${row.squashed}`, [...named.get(`${row.state} ${row.squashed}`) ?? [], row]);
  const ordered = governments.toSorted((a, b) => Number(a.county !== null) - Number(b.county !== null) || PREFERRED.indexOf(a.type) - PREFERRED.indexOf(b.type));
  for (const government of ordered) {
    const { name, type, state } = government;
    if (type === 'county_borough' || type === 'census_area') continue;
    const word = type.replace('_', ' ');
    const spellings = new Set([name, `${name} ${word}`, `${name} township`, `${word} of ${name}`, `township of ${name}`, `town of ${name}`].map(squash));
    const candidates = [...spellings].flatMap((spelling) => named.get(`${state} ${spelling}`) ?? []).filter((row) => row.kind !== 'county');
    claim(government, candidates.find((row) => !claimed.has(row) && isIn(row, government)));
  }
  return found;
}

const divisions = parse(readFileSync(csv), { record_delimiter: ROW_ENDS, columns: true, bom: true }) as Parameters<typeof listed>[0][];
const known = new Set(divisions.map(({ id }) => id));
const governments = [...divisions, ...NEWER.filter(({ id }) => !known.has(id))].flatMap(listed);
const countyNames = new Map(divisions.map(({ id, census_geoid: geoid }) => [geoid.replace('place-', ''), id.slice(id.lastIndexOf(':') + 1)]));
const places = readPackages().gazetteer.places.filter(({ country, place_key: key }) => country === 'US' && key.includes(','));
const rows = rowsOf(governments, places, countyNames);
const lines = new Map<string, string[]>();
for (const government of governments) {
  const { id, where, type, name, ending, geoid } = government;
  const row = rows.get(government);
  const code = geoid.length === 5 ? geoid.slice(-3) : geoid.slice(-5);
  const entry = name + (ocdName(name) === ending ? '' : `=${ending}`) + (!row ? `#${Number(code)}` : row.ocd_id === id ? '' : `@${row.key}`);
  lines.set(`${where} ${type}`, [...lines.get(`${where} ${type}`) ?? [], entry]);
}
for (const abbreviation of new Set(governments.map(({ state }) => state))) if (!stateByAbbreviation(abbreviation)) throw new Error(`${abbreviation} is no state`);
writeFileSync(output, `${HEADER}${[...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([start, entries]) => `${start} ${entries.sort().join('|')}`).join('\n')}\n`);
