import type { Reader } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { CoveredRow } from './covered-store.ts';

/** Returns the places that have public actors, with their number: all of them, or those of some numbers. */
export async function placeCounts(reader: Reader, places: number[] | 'all'): Promise<CoveredRow[]> {
  const query = () => reader('directory_counts as counts').join('directory_places as places', 'places.key', 'counts.place')
    .where({ 'counts.issue_area': '', 'counts.type': '' }).where('counts.actors', '>', 0).select('places.*', 'counts.actors');
  if (places === 'all') return query();
  const rows: CoveredRow[] = [];
  for (const some of chunksOf(places)) rows.push(...await query().whereIn('counts.place', some));
  return rows;
}
