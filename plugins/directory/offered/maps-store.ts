import { dialectOf, type Reader } from 'civic';
import type { PlaceRow } from '../places/gazetteer.ts';

/** The places that public actors are in; with an issue area, those who work on it. */
function covered(reader: Reader, issueArea: string) {
  return reader('directory_counts').join('directory_places', 'directory_places.key', 'directory_counts.place').where({ issue_area: issueArea, type: '' }).where('actors', '>', 0);
}

/** Returns how many places of each state have actors, by its abbreviation; by null, how many places in no state. */
export async function countCoveredPlaces(reader: Reader, issueArea = ''): Promise<Map<string | null, number>> {
  const rows: { state: string | null; places: number }[] = await covered(reader, issueArea).groupBy('state').select('state').count({ places: '*' });
  return new Map(rows.map(({ state, places }) => [state, Number(places)]));
}

/** Returns the places in no state with most actors. */
export async function coveredOutside(reader: Reader, limit: number, issueArea = ''): Promise<(PlaceRow & { actors: number })[]> {
  return covered(reader, issueArea).whereNull('state').orderBy([{ column: 'actors', order: 'desc' }, { column: 'place_key' }]).limit(limit).select('directory_places.*', 'actors');
}

/** A county, or a place of the state that is in no county. */
export interface AreaRow {
  place_key: string;
  name: string;
  kind: string;
}

/** The public actors in an area, and how many of its places have some. */
export interface AreaCount {
  actors: number;
  places: number;
}

const WHOLE = ['state', 'territory', 'district'];

/** Returns the counties of a state and its places in no county. */
export async function areasOfState(reader: Reader, state: string): Promise<AreaRow[]> {
  return reader('directory_places').where({ state }).where((own) => { own.where({ kind: 'county' }).orWhereNull('county'); })
    .whereNotIn('kind', WHOLE).orderBy('place_key').select('place_key', 'name', 'kind');
}

/** Returns the counts of the areas of a state that have actors, by place key. An actor in two places of a county counts once. */
export async function countsOfState(reader: Reader, state: string, issueArea = ''): Promise<Map<string, AreaCount>> {
  const isIn = issueArea === '' ? '' : `and ${dialectOf(reader) === 'sqlite' ? 'instr(listings.tags, ?)' : 'strpos(listings.tags, ?)'} > 0`;
  // SQLite joins in the order of a cross join: the places of the state first.
  const counts: { area: string; actors: number; places: number }[] = await reader.raw(`
    select coalesce(places.county, places.place_key) as area, count(distinct listings.actor_key) as actors, count(distinct listings.place) as places
    from directory_places as places cross join directory_listings as listings
    where places.state = ? and places.kind not in ('${WHOLE.join("', '")}') and listings.place = places.key and listings.workspace_id is null ${isIn}
    group by coalesce(places.county, places.place_key)`, [state, ...(issueArea === '' ? [] : [` i:${issueArea} `])]);
  return new Map(counts.map(({ area, actors, places }) => [area, { actors: Number(actors), places: Number(places) }]));
}
