import type { Reader } from 'civic';
import type { PlaceRow } from './gazetteer.ts';

/** A place with the number of its public actors. */
export type CoveredRow = PlaceRow & { actors: number };

export interface CoveredQuery {
  /** Abbreviation. */
  state?: string;
  /** The place key of a county. */
  county?: string;
  /** The place key after which the page begins. */
  after?: string | null;
  limit: number;
}

const COVERED = "counts.place = places.key and counts.issue_area = '' and counts.type = '' and counts.actors > 0";
/** Up to so many places are found faster by their counters than by walking the gazetteer. */
const FEW = 4000;

/** Returns the places that have public actors, in the order of their keys. */
export async function coveredPlaces(reader: Reader, { state, county, after = null, limit }: CoveredQuery): Promise<CoveredRow[]> {
  const filters = { 'places.state = ?': state, 'places.county = ?': county, 'places.place_key > ?': after };
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== null);
  const isWalked = state !== undefined || await countCovered(reader) > FEW;
  // SQLite joins in the order of a cross join.
  const tables = isWalked ? 'directory_places as places cross join directory_counts as counts' : 'directory_counts as counts cross join directory_places as places';
  const rows: CoveredRow[] = await reader.raw(`select places.*, counts.actors from ${tables} where ${[COVERED, ...given.map(([sql]) => sql)].join(' and ')} order by places.place_key limit ?`,
    [...given.map(([, value]) => value!), limit]);
  return rows.map((row) => ({ ...row, actors: Number(row.actors) }));
}

/** Returns the number of places that have public actors. */
export async function countCovered(reader: Reader, { state, county }: Omit<CoveredQuery, 'limit'> = {}): Promise<number> {
  const query = reader('directory_counts as counts').where({ 'counts.issue_area': '', 'counts.type': '' }).where('counts.actors', '>', 0);
  if (state !== undefined) {
    query.whereIn('counts.place', (inner) => {
      inner.from('directory_places').select('key').where({ state });
      if (county !== undefined) inner.where({ county });
    });
  }
  const [row] = await query.count({ count: '*' });
  return Number(row?.count);
}

/** Returns how many places of each state have public actors; of places outside the US under null. */
export async function coveredByState(reader: Reader): Promise<{ state: string | null; places: number }[]> {
  const rows: { state: string | null; places: number }[] = await reader.raw(`select places.state, count(*) as places from directory_counts as counts cross join directory_places as places where ${COVERED} group by places.state`);
  return rows.map(({ state, places }) => ({ state, places: Number(places) }));
}

export interface Box {
  south: number;
  north: number;
  west: number;
  east: number;
}

/** Returns the places with public actors in a part of the globe. */
export async function coveredWithin(reader: Reader, { south, north, west, east }: Box): Promise<CoveredRow[]> {
  const rows: CoveredRow[] = await reader.raw(`select places.*, counts.actors from directory_places as places cross join directory_counts as counts
    where ${COVERED} and places.latitude between ? and ? and places.longitude between ? and ?`, [south, north, west, east]);
  return rows.map((row) => ({ ...row, actors: Number(row.actors) }));
}
