import { dialectOf, type Reader } from 'civic';
import type { FreshnessDays } from '../actors/freshness.ts';

export interface AgedRow extends FreshnessDays {
  id: string;
}

/** Actors with a turn of their freshness from the end of one day to the end of another, in the order of their ids. */
export async function agedBetween(reader: Reader, since: number, until: number, after: string | null, limit: number): Promise<AgedRow[]> {
  const query = reader('directory_actors').whereNot({ type: 'event' }).orderBy('id').limit(limit).select('id', 'fresh_until', 'aging_until');
  query.where((turned) => {
    for (const column of ['fresh_until', 'aging_until']) turned.orWhere((within) => { within.where(column, '>=', since).where(column, '<', until); });
  });
  if (after !== null) query.where('id', '>', after);
  return query;
}

/** The keys of the next public events, the earliest first. */
export async function upcomingEvents(reader: Reader, since: string, limit: number): Promise<number[]> {
  return reader('directory_actors').where('starts_at', '>=', since).where({ visibility: 'public' }).orderBy(['starts_at', 'key']).limit(limit).pluck('key');
}

/** Returns the keys of public events in some places, or in a state by its tag, the earliest first: those among the next events of the instance. */
export async function upcomingWithin(reader: Reader, within: { places: number[] } | { tag: string }, since: string, limit: number, among: number): Promise<number[]> {
  // A plus sign keeps SQLite from looking up each place of each event.
  const coming = `(select key, starts_at, tags from directory_actors where starts_at >= ? and visibility = 'public' order by starts_at, key limit ?) as coming`;
  const isWithin = 'places' in within
    ? `exists (select 1 from directory_listings where actor_key = coming.key and +place in (${within.places.map(() => '?').join(', ')}))`
    : `${dialectOf(reader) === 'postgres' ? 'strpos' : 'instr'}(' ' || tags || ' ', ?) > 0`;
  const rows: { key: number }[] = await reader.raw(`select key from ${coming} where ${isWithin} order by starts_at, key limit ?`, [since, among, ...('places' in within ? within.places : [` ${within.tag} `]), limit]);
  return rows.map(({ key }) => Number(key));
}
