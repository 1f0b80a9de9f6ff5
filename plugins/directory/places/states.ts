import { slugOf } from './names.ts';

/** A state of the US, or what stands in the place of one. */
export interface State {
  abbreviation: string;
  name: string;
  slug: string;
  kind: 'state' | 'district' | 'territory';
  /** Federal number, the last digits of its key. */
  fips: number;
  population: number;
  latitude: number;
  longitude: number;
}

// Abbreviation, FIPS, name, population of the 2020 census, centre.
const ROWS = `
AL 1 Alabama 5024279 32.8 -86.8
AK 2 Alaska 733391 64.1 -152.3
AZ 4 Arizona 7151502 34.3 -111.7
AR 5 Arkansas 3011524 34.8 -92.4
CA 6 California 39538223 37.2 -119.5
CO 8 Colorado 5773714 39.0 -105.5
CT 9 Connecticut 3605944 41.6 -72.7
DE 10 Delaware 989948 39.0 -75.5
DC 11 District of Columbia 689545 38.9 -77.0
FL 12 Florida 21538187 28.5 -82.5
GA 13 Georgia 10711908 32.6 -83.4
HI 15 Hawaii 1455271 20.8 -156.7
ID 16 Idaho 1839106 44.4 -114.6
IL 17 Illinois 12812508 40.1 -89.2
IN 18 Indiana 6785528 39.9 -86.3
IA 19 Iowa 3190369 42.1 -93.5
KS 20 Kansas 2937880 38.5 -98.4
KY 21 Kentucky 4505836 37.5 -85.3
LA 22 Louisiana 4657757 31.1 -92.0
ME 23 Maine 1362359 45.4 -69.2
MD 24 Maryland 6177224 39.0 -76.8
MA 25 Massachusetts 7029917 42.3 -71.8
MI 26 Michigan 10077331 44.3 -85.4
MN 27 Minnesota 5706494 46.3 -94.3
MS 28 Mississippi 2961279 32.7 -89.7
MO 29 Missouri 6154913 38.4 -92.5
MT 30 Montana 1084225 47.0 -109.6
NE 31 Nebraska 1961504 41.5 -99.8
NV 32 Nevada 3104614 39.3 -116.6
NH 33 New Hampshire 1377529 43.7 -71.6
NJ 34 New Jersey 9288994 40.2 -74.7
NM 35 New Mexico 2117522 34.4 -106.1
NY 36 New York 20201249 42.9 -75.5
NC 37 North Carolina 10439388 35.6 -79.4
ND 38 North Dakota 779094 47.4 -100.5
OH 39 Ohio 11799448 40.3 -82.8
OK 40 Oklahoma 3959353 35.6 -97.5
OR 41 Oregon 4237256 43.9 -120.6
PA 42 Pennsylvania 13002700 40.9 -77.8
RI 44 Rhode Island 1097379 41.6 -71.6
SC 45 South Carolina 5118425 33.9 -80.9
SD 46 South Dakota 886667 44.4 -100.2
TN 47 Tennessee 6910840 35.9 -86.4
TX 48 Texas 29145505 31.5 -99.3
UT 49 Utah 3271616 39.3 -111.7
VT 50 Vermont 643077 44.1 -72.7
VA 51 Virginia 8631393 37.5 -78.9
WA 53 Washington 7705281 47.4 -120.5
WV 54 West Virginia 1793716 38.6 -80.6
WI 55 Wisconsin 5893718 44.6 -90.0
WY 56 Wyoming 576851 43.0 -107.6
AS 60 American Samoa 49710 -14.3 -170.7
GU 66 Guam 153836 13.4 144.8
MP 69 Northern Mariana Islands 47329 15.2 145.8
PR 72 Puerto Rico 3285874 18.2 -66.4
VI 78 U.S. Virgin Islands 87146 18.0 -64.8
`;

const LINE = /^(\w\w) (\d+) (.+) (\d+) (-?[\d.]+) (-?[\d.]+)$/;

export const STATES: State[] = ROWS.trim().split('\n').map((row) => {
  const [, abbreviation, fips, name, population, latitude, longitude] = LINE.exec(row) as unknown as string[];
  return {
    abbreviation: abbreviation!,
    name: name!,
    slug: slugOf(name!),
    kind: abbreviation === 'DC' ? 'district' : Number(fips) >= 60 ? 'territory' : 'state',
    fips: Number(fips),
    population: Number(population),
    latitude: Number(latitude),
    longitude: Number(longitude),
  };
});

const byAbbreviation = new Map(STATES.map((state) => [state.abbreviation, state]));
const bySlug = new Map(STATES.map((state) => [state.slug, state]));

/** How people also write them. */
const ALSO = new Map(Object.entries({
  'washington-dc': 'DC', 'd-c': 'DC', 'virgin-islands': 'VI', 'us-virgin-islands': 'VI', 'commonwealth-of-puerto-rico': 'PR',
  ala: 'AL', ariz: 'AZ', ark: 'AR', calif: 'CA', colo: 'CO', conn: 'CT', del: 'DE', fla: 'FL', ill: 'IL', ind: 'IN', kan: 'KS', kans: 'KS', mass: 'MA', mich: 'MI', minn: 'MN',
  miss: 'MS', mont: 'MT', neb: 'NE', nebr: 'NE', nev: 'NV', okla: 'OK', ore: 'OR', penn: 'PA', penna: 'PA', tenn: 'TN', tex: 'TX', wash: 'WA', wis: 'WI', wisc: 'WI', wyo: 'WY',
}));

export function stateByAbbreviation(abbreviation: string): State | null {
  return byAbbreviation.get(abbreviation.toUpperCase()) ?? null;
}

export function stateBySlug(slug: string): State | null {
  return bySlug.get(slug) ?? null;
}

/** By name, abbreviation with or without dots, or an old abbreviation (`Mo.`, `N.Y.`, `Calif.`). */
export function stateByText(text: string): State | null {
  const slug = slugOf(text.replace(/\b(state|commonwealth) of /i, ''));
  return bySlug.get(slug) ?? (slug.length === 2 ? stateByAbbreviation(slug) : null) ?? stateByAbbreviation(ALSO.get(slug) ?? '');
}

/** The start of the OCD ids of its places. */
export function ocdOfState({ kind, abbreviation }: State): string {
  return `ocd-division/country:us/${kind}:${abbreviation.toLowerCase()}`;
}
