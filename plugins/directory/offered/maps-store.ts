import type { Reader } from 'civic';
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
