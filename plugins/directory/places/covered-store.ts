import type { Reader } from 'civic';
import type { PlaceRow } from './gazetteer.ts';

/** A place with the number of its public actors. */
export type CoveredRow = PlaceRow & { actors: number };

export interface CoveredQuery {
  /** Abbreviation. */
  state?: string;
  /** The place key of a county. */
  county?: string;
  /** The beginning of squashed names. */
  squashed?: string;
  /** The place key after which the page begins. */
  after?: string | null;
  limit: number;
}

const COVERED = "counts.place = places.key and counts.issue_area = '' and counts.type = '' and counts.actors > 0";
/** Up to so many places are found faster by their counters than by walking the gazetteer. */
const FEW = 4000;

/** Returns the places that have public actors, in the order of their keys. */
export async function coveredPlaces(reader: Reader, { limit, ...query }: CoveredQuery): Promise<CoveredRow[]> {
  const given = filtersOf(query);
  const isWalked = query.state !== undefined || query.squashed !== undefined || await countCovered(reader) > FEW;
  // SQLite joins in the order of a cross join.
  const tables = isWalked ? 'directory_places as places cross join directory_counts as counts' : 'directory_counts as counts cross join directory_places as places';
  const rows: CoveredRow[] = await reader.raw(`select places.*, counts.actors from ${tables} where ${[COVERED, ...given.map(([sql]) => sql)].join(' and ')} order by places.place_key limit ?`,
    [...given.map(([, value]) => value), limit]);
  return rows.map((row) => ({ ...row, actors: Number(row.actors) }));
}

/** Returns the number of places that have public actors. */
export async function countCovered(reader: Reader, query: Omit<CoveredQuery, 'limit'> = {}): Promise<number> {
  const given = filtersOf(query);
  const sql = given.length === 0 ? "directory_counts as counts where issue_area = '' and type = '' and actors > 0"
    : `directory_places as places cross join directory_counts as counts where ${[COVERED, ...given.map(([filter]) => filter)].join(' and ')}`;
  const [row]: { count: number }[] = await reader.raw(`select count(*) as count from ${sql}`, given.map(([, value]) => value));
  return Number(row!.count);
}

function filtersOf({ state, county, squashed, after }: Omit<CoveredQuery, 'limit'>): [sql: string, value: string][] {
  const filters = {
    'places.state = ?': state, 'places.county = ?': county, 'places.place_key > ?': after, 'places.squashed >= ?': squashed, 'places.squashed < ?': squashed && `${squashed}\u{10ffff}`,
  };
  return Object.entries(filters).filter((filter): filter is [string, string] => filter[1] !== undefined && filter[1] !== null);
}

/** Returns how many places of each state have public actors; of places outside the US under null. */
export async function coveredByState(reader: Reader): Promise<{ state: string | null; places: number }[]> {
  const rows: { state: string | null; places: number }[] = await reader.raw(`select places.state, count(*) as places from directory_counts as counts cross join directory_places as places where ${COVERED} group by places.state`);
  return rows.map(({ state, places }) => ({ state, places: Number(places) }));
}

/** Returns how many places of each county of a state have public actors; of those in no county under null. */
export async function coveredByCounty(reader: Reader, state: string): Promise<{ county: string | null; places: number }[]> {
  const rows: { county: string | null; places: number }[] = await reader.raw(`select places.county, count(*) as places from directory_places as places cross join directory_counts as counts
    where ${COVERED} and places.state = ? group by places.county`, [state]);
  return rows.map(({ county, places }) => ({ county, places: Number(places) }));
}
