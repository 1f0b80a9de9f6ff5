import { slugOf } from '../places/names.ts';
import type { OwnPlace } from '../places/service.ts';

/** A place that is on no map, with what sentences and addresses need. */
export interface Town {
  place_key: string;
  name: string;
  kind: 'city' | 'town' | 'village';
  population: number;
  /** The first label of its web address. */
  domain: string;
  hall: string;
  streets: string[];
  /** What people there would say it is known for. */
  known: string;
}

// No state has this name, and XX is given to no country.
const [REGION, REGION_SLUG, COUNTRY] = ['Tamarack (demo)', 'tamarack', 'XX'];
export const COUNTY = 'Ansel County';
export const VALLEY = 'Kestrel Valley';

type Line = [name: string, kind: Town['kind'], population: number, hall: string, known: string, streets: string];

// The order is that of the river, from the mountains to the lake; the largest is the county seat.
const LINES: Line[] = [
  ['Harlow Ferry', 'city', 38_412, 'City Hall, 12 Ferry Street', 'its iron bridge and the old ferry landing', 'Ferry Street, Bridge Street, Court Square, Mill Race Road, Larkin Avenue, Depot Street'],
  ['Marlow Bend', 'town', 14_206, 'Town Hall, 4 Assembly Road', 'the paper mill that closed in 2009', 'Assembly Road, Paper Street, Tannery Lane, North Bend Road'],
  ['Quarry Hill', 'town', 11_834, 'Municipal Building, 200 Granite Avenue', 'its granite quarries', 'Granite Avenue, Derrick Street, Chapel Hill Road, School Street'],
  ['New Tarsus', 'town', 9_318, 'Town Offices, 31 College Street', 'the community college and its Saturday market', 'College Street, Elm Walk, Harbison Street, Fairground Road'],
  ['Pellam', 'town', 7_640, 'Town Hall, 1 Station Plaza', 'the last train station in the valley', 'Station Plaza, Switchyard Street, Orchard Street, Pellam Pike'],
  ['Saint Odile', 'town', 6_127, 'Village Green Hall, 8 Rue Basse', 'a French mission church and its bells', 'Rue Basse, Mission Street, Bell Lane, Lower Green'],
  ['Copperline', 'town', 5_402, 'Town Hall, 77 Smelter Road', 'the smelter stack and the clean-up below it', 'Smelter Road, Assay Street, Union Street, Slag Hill Road'],
  ['Three Bridges', 'village', 2_958, 'Village Hall, 3 Toll Lane', 'the floods of two springs in a row', 'Toll Lane, Causeway Road, Weir Street'],
  ['Fennimore Landing', 'village', 2_210, 'Landing House, 19 Wharf Road', 'the boat yard', 'Wharf Road, Cooper Street, Levee Road'],
  ['Ash Hollow', 'village', 1_743, 'Grange Hall, 60 Hollow Road', 'its volunteer fire company and the August supper', 'Hollow Road, Grange Lane, Sawmill Road'],
  ['Villa Nuñez', 'village', 1_512, 'Casa Comunal, 5 Calle de los Duraznos', 'peaches, and the families who came to pick them and stayed', 'Calle de los Duraznos, Packing House Road, Acequia Street'],
  ['Wick’s Mill', 'village', 988, 'Mill House, 2 Grist Lane', 'a grist mill that still turns', 'Grist Lane, Pond Road, Miller Street'],
  ['Orchard Gap', 'village', 731, 'Schoolhouse, 14 Gap Road', 'apples and a long winter', 'Gap Road, Cider Lane, Ridge Road'],
  ['Dunmore Flats', 'village', 604, 'Community Hall, 1 Section Line Road', 'sugar beets and the wind', 'Section Line Road, Beet Street, Elevator Road'],
  ['Lower Kestrel', 'village', 417, 'Ranger Station, 9 Lake Road', 'the lake and the road that ends at it', 'Lake Road, Portage Lane, Birch Landing'],
];

export const TOWNS: readonly Town[] = LINES.map(([name, kind, population, hall, known, streets]) => {
  const word = slugOf(name);
  return { place_key: `${word},${REGION_SLUG}`, name, kind, population, domain: word.replaceAll('-', ''), hall, known, streets: streets.split(', ') };
});

/** As the gazetteer takes them. They lie in the open Caribbean, so that no map shows them near a real town, where the clock is five hours behind Greenwich all year. */
export const PLACES: readonly OwnPlace[] = TOWNS.map(({ place_key, name, population }, index) => ({
  place_key,
  name,
  population,
  state: null,
  admin1: REGION,
  country: COUNTRY,
  kind: 'city',
  latitude: Number((16 - index * 0.07).toFixed(4)),
  longitude: Number((-78.5 + Math.sin(index) * 0.11).toFixed(4)),
  ocd_id: null,
}));

export const SEAT = TOWNS[0]!;
