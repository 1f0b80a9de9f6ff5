// What the rules get wrong, by hand: where GeoNames, the post office, the Census and people do not agree.

/** Names that the place itself writes another way. */
export const MISSPELT: Record<string, string> = {
  'New York City, NY': 'New York', 'Washington, D.C., DC': 'Washington',
  'Cajahs Mountain, NC': "Cajah's Mountain", 'Cornwall On Hudson, NY': 'Cornwall-on-Hudson', 'Cross Lake, MN': 'Crosslake', 'De Forest, WI': 'DeForest', 'De Witt, AR': 'DeWitt', 'DeMotte, IN': 'De Motte',
  'Depue, IL': 'De Pue', 'Glendale, WV': 'Glen Dale', 'La Coste, TX': 'LaCoste', 'La Salle, IL': 'LaSalle', 'LaFollette, TN': 'La Follette', 'LaPorte, IN': 'La Porte', 'LaVerkin, UT': 'La Verkin',
  'Longview, NC': 'Long View', 'Morgans Point Resort, TX': "Morgan's Point Resort", 'Nanty Glo, PA': 'Nanty-Glo', 'Odonnell, TX': "O'Donnell", 'Pineridge, SC': 'Pine Ridge', 'Put In Bay, OH': 'Put-in-Bay',
  'Sullivans Island, SC': "Sullivan's Island", 'Sunnyside, GA': 'Sunny Side', 'Wilsons Mills, NC': "Wilson's Mills", 'Wood-Lynne, NJ': 'Woodlynne',
};

/** GeoNames ids of one government under two names: the former is dropped, the larger population stays. */
export const SAME_AS: Record<number, number> = {
  4297999: 4297983, // Lexington-Fayette
};

/** Governments that are a county too, and names that are longer in Open Civic Data. */
export const OCD_IDS: Record<string, string> = {
  'nashville,tennessee': 'county:davidson', 'louisville,kentucky': 'county:jefferson', 'athens,georgia': 'county:clarke', 'augusta,georgia': 'county:richmond', 'butte,montana': 'county:silver_bow',
  'honolulu,hawaii': 'county:honolulu', 'arlington,virginia': 'county:arlington', 'manhattan,new-york': 'county:new_york', 'brooklyn,new-york': 'county:kings', 'queens,new-york': 'county:queens',
  'the-bronx,new-york': 'county:bronx', 'staten-island,new-york': 'county:richmond', 'ventura,california': 'place:san_buenaventura_~ventura~', 'paso-robles,california': 'place:el_paso_de_robles_~paso_robles~',
  'islamorada,florida': 'place:islamorada~_village_of_islands', 'superior,wisconsin': 'place:superior_city',
  ...townships('new-jersey', {
    bergen: 'Lyndhurst|Mahwah|Saddle Brook|Teaneck|Wyckoff|River Vale', burlington: 'Cinnaminson|Edgewater Park|Maple Shade|Mount Holly|Mount Laurel|Willingboro|Evesham|Medford|Moorestown',
    camden: 'Cherry Hill|Pennsauken|Voorhees|Winslow', essex: 'Belleville|Bloomfield|Cedar Grove|Irvington|Livingston|Maplewood|Millburn|Montclair|Nutley|Verona|West Orange',
    gloucester: 'Deptford|Monroe|West Deptford', hudson: 'North Bergen|Weehawken', mercer: 'Ewing|Lawrence|Hamilton|East Windsor|West Windsor',
    middlesex: 'East Brunswick|Edison|North Brunswick|Old Bridge|Piscataway|Plainsboro|South Brunswick|Woodbridge', monmouth: 'Holmdel|Howell|Manalapan|Marlboro|Ocean|Wall',
    morris: 'East Hanover|Hanover|Parsippany-Troy Hills|Randolph|Roxbury', ocean: 'Brick|Jackson|Lakewood|Manchester|Toms River', passaic: 'Little Falls|Wayne|West Milford',
    salem: 'Pennsville', somerset: 'Bedminster|Bernards|Bridgewater|Hillsborough|Montgomery', sussex: 'Sparta|Vernon', union: 'Berkeley Heights|Clark|Cranford|Hillside|Scotch Plains|Springfield|Union',
  }),
  ...townships('new-york', {
    erie: 'Amherst|Cheektowaga|Grand Island|West Seneca|Boston', monroe: 'Brighton|Greece|Irondequoit|Henrietta|Penfield|Perinton', orange: 'New Windsor', rockland: 'Clarkstown|Orangetown|Ramapo|Stony Point',
    schenectady: 'Niskayuna|Rotterdam', suffolk: 'Brookhaven|Huntington|Islip|Riverhead|Shelter Island|Smithtown|Southold', sullivan: 'Fallsburg', ulster: 'Wawarsing|Woodstock', warren: 'Queensbury',
    westchester: 'Bedford|Greenburgh|North Castle|Yorktown', nassau: 'Oyster Bay|North Hempstead', dutchess: 'Hyde Park|Pleasant Valley|Pine Plains', essex: 'North Elba',
  }),
  ...townships('pennsylvania', {
    allegheny: 'Mount Lebanon|North Versailles|Upper St. Clair', bucks: 'Bedminster', chester: 'Caln', delaware: 'Haverford|Radnor|Springfield|Upper Darby', montgomery: 'Abington|Cheltenham|Horsham|Limerick|Lower Merion|West Norriton',
  }),
  ...townships('ohio', { mahoning: 'Austintown|Boardman', summit: 'Copley' }),
  ...townships('michigan', { wayne: 'Grosse Ile' }),
  ...townships('wisconsin', { kenosha: 'Salem|Somers' }),
};

/** Townships that people take for cities lie below their county. */
function townships(state: string, byCounty: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(byCounty).flatMap(([county, names]) => names.split('|').map((name) => {
    const plain = name.toLowerCase().replaceAll('.', '');
    return [`${plain.replaceAll(' ', '-')},${state}`, `county:${county}/place:${plain.replaceAll(' ', '_')}`];
  })));
}

export const KINDS: Record<string, string> = {
  'manhattan,new-york': 'borough', 'brooklyn,new-york': 'borough', 'queens,new-york': 'borough', 'the-bronx,new-york': 'borough', 'staten-island,new-york': 'borough',
};
