import type { Reader } from 'civic';
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
