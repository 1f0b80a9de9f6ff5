import { createRequire } from 'node:module';
import { readCounties, type CountyShape } from './atlas.ts';
import type { PlaceCore, PlaceRow } from './gazetteer.ts';
import { squash } from './names.ts';
import { STATES } from './states.ts';
import { zoneAt } from './zone.ts';

/** Numbers of counties from here on are of cities that belong to no county. */
const INDEPENDENT = 510;
const COUNTY_WORD = /(?: City and)? (?:County|Parish|Borough|Municipality|Census Area)$/;

/** Steps in degrees to look for a county around a point: the shapes are coarse, and a town at the shore may lie outside of all of them. */
const AROUND = [0, -0.03, 0.03, -0.1, 0.1];

const abbreviations = new Map(STATES.map(({ fips, abbreviation }) => [fips, abbreviation]));

/** Adds the county of each place in the US, the time zone of each place, and the middle of each county. */
export function located(rows: PlaceCore[]): PlaceRow[] {
  const shapes = shapesByState();
  const counties = rows.filter(({ kind }) => kind === 'county');
  const byName = new Map(counties.map((row) => [`${row.state} ${plainName(row)}`, row]));
  const states = new Map(rows.filter(({ kind }) => kind === 'state' || kind === 'territory').map((row) => [row.state, row]));
  const byOcdId = new Map(counties.map((row) => [row.ocd_id, row]));
  for (const [state, some] of shapes) {
    for (const { id, name, latitude, longitude } of some) {
      const row = isCounty(id) ? byName.get(`${state} ${squash(name)}`) : undefined;
      if (row) Object.assign(row, { latitude: rounded(latitude), longitude: rounded(longitude) });
    }
  }
  return rows.map((row) => {
    const county = countyOf(row);
    // A time is shown with its zone, so that one in another zone of the state is right, too.
    const { latitude, longitude } = [row, county, states.get(row.state)].find((one) => one && one.latitude !== null) ?? row;
    return { ...row, county: county?.place_key ?? null, time_zone: zoneAt(latitude, longitude) };
  });

  function countyOf({ kind, latitude, longitude, ocd_id: id, state }: PlaceCore): PlaceCore | null {
    const parent = id && /^.+\/(?:county|parish|borough|census_area):[^/]+(?=\/)/.exec(id);
    if (parent) return byOcdId.get(parent[0]) ?? null;
    if (latitude === null || longitude === null || ['county', 'state', 'territory'].includes(kind)) return null;
    const shape = shapeAt(shapes.get(state ?? '') ?? [], longitude, latitude);
    return shape && isCounty(shape.id) ? byName.get(`${state} ${squash(shape.name)}`) ?? null : null;
  }
}

function shapeAt(shapes: CountyShape[], longitude: number, latitude: number): CountyShape | undefined {
  for (const east of AROUND) {
    for (const north of AROUND) {
      const found = shapes.find((shape) => shape.contains(longitude + east, latitude + north));
      if (found) return found;
    }
  }
  return undefined;
}

function shapesByState(): Map<string, CountyShape[]> {
  const byState = new Map<string, CountyShape[]>();
  for (const shape of readCounties(createRequire(import.meta.url).resolve('us-atlas/counties-10m.json'))) {
    const state = abbreviations.get(Number(shape.id.slice(0, 2)))!;
    byState.set(state, [...byState.get(state) ?? [], shape]);
  }
  return byState;
}

/** Virginia has a county and a city of the name Fairfax. */
function isCounty(id: string): boolean {
  return Number(id.slice(2)) < INDEPENDENT;
}

function plainName({ name }: PlaceCore): string {
  return squash(name.replace(COUNTY_WORD, ''));
}

function rounded(degrees: number): number {
  return Math.round(degrees * 100) / 100;
}
