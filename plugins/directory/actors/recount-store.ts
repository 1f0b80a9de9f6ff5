import { dialectOf, type Reader, type Tx } from 'civic';
import { sourcesByKey } from '../ledger/store.ts';
import { cellsOf, sourceKeysOf } from './project.ts';
import { addCounts, addPlaceSources, type CountRow, type PlaceSourceRow } from './store.ts';

export interface Recounted {
  /** Places whose counters were wrong. */
  places: number[];
  /** The sources of their public actors. */
  sources: number[];
}

const PLACE_TABLES = ['directory_listings', 'directory_counts', 'directory_place_sources'];

export async function storedModelsAfter(reader: Reader, after: number, limit: number): Promise<{ key: number; model: number | null }[]> {
  return reader('directory_actors').where('key', '>', after).orderBy('key').limit(limit).select('key', 'model');
}

/** Whether there are actors of another version. Each query reads one entry of an index. */
export async function hasOtherModels(reader: Reader, version: number): Promise<boolean> {
  const actors = () => reader('directory_actors').select('key').limit(1);
  for (const query of [actors().whereNull('model'), actors().where('model', '<', version), actors().where('model', '>', version)]) if ((await query).length > 0) return true;
  return false;
}

export async function countListedPlaces(reader: Reader): Promise<number> {
  const row = await reader('directory_listings').countDistinct({ count: 'place' }).first();
  return Number(row?.count);
}

/** The next places that have listings or counters. */
export async function listedPlacesAfter(reader: Reader, after: number, limit: number): Promise<number[]> {
  const places = new Set<number>();
  for (const table of PLACE_TABLES) for (const place of await reader(table).distinct('place').where('place', '>', after).orderBy('place').limit(limit).pluck('place')) places.add(Number(place));
  return [...places].sort((a, b) => a - b).slice(0, limit);
}

/** Counts the public actors and sources of these places from their listings. Returns those whose counters were wrong. */
export async function recountPlaces(tx: Tx, places: number[]): Promise<Recounted> {
  // Waits for writers, and lets none change a counter between the count and its replacement. Readers do not wait.
  if (dialectOf(tx) === 'postgres') await tx.raw('lock table directory_counts, directory_place_sources in share row exclusive mode');
  const rows: { place: number; tags: string; sources: string }[] = await tx('directory_listings').join('directory_actors', 'directory_actors.key', 'directory_listings.actor_key')
    .whereIn('place', places).where('directory_actors.visibility', 'public').select('place', 'directory_actors.tags', 'directory_actors.sources');
  const counts = countCells(rows);
  const sources = await countSources(tx, rows);
  const isWrong = await wrongPlaces(tx, places, counts, sources);
  const wrong = places.filter((place) => isWrong.has(place));
  if (wrong.length === 0) return { places: [], sources: [] };
  for (const table of ['directory_counts', 'directory_place_sources']) await tx(table).whereIn('place', wrong).delete();
  await addCounts(tx, counts.filter(({ place }) => isWrong.has(place)));
  await addPlaceSources(tx, sources.filter(({ place }) => isWrong.has(place)));
  return { places: wrong, sources: [...new Set(sources.filter(({ place }) => isWrong.has(place)).map(({ source_key: key }) => key))] };
}

function countCells(rows: { place: number; tags: string }[]): CountRow[] {
  const counts = new Map<string, CountRow>();
  for (const { place, tags } of rows) {
    for (const cell of cellsOf({ tags }, place)) {
      const id = `${place} ${cell.issue_area} ${cell.type}`;
      counts.set(id, { ...cell, actors: (counts.get(id)?.actors ?? 0) + 1 });
    }
  }
  return [...counts.values()];
}

async function countSources(tx: Tx, rows: { place: number; sources: string }[]): Promise<PlaceSourceRow[]> {
  const uses = new Map<string, PlaceSourceRow>();
  for (const { place, sources } of rows) {
    for (const key of sourceKeysOf({ sources })) {
      const id = `${key} ${place}`;
      uses.set(id, { place, source_key: key, retrieved_at: '', uses: (uses.get(id)?.uses ?? 0) + 1 });
    }
  }
  const known = new Map((await sourcesByKey(tx, [...new Set([...uses.values()].map(({ source_key: key }) => key))])).map(({ key, retrieved_at: at }) => [key, at]));
  return [...uses.values()].flatMap((row) => (known.has(row.source_key) ? [{ ...row, retrieved_at: known.get(row.source_key)! }] : []));
}

async function wrongPlaces(tx: Tx, places: number[], counts: CountRow[], sources: PlaceSourceRow[]): Promise<Set<number>> {
  const storedCounts: CountRow[] = await tx('directory_counts').whereIn('place', places).whereNot({ actors: 0 });
  const storedSources: PlaceSourceRow[] = await tx('directory_place_sources').whereIn('place', places);
  const linesOf = (rows: CountRow[], used: PlaceSourceRow[]) => new Map([
    ...rows.map(({ place, issue_area, type, actors }): [string, number] => [`${place} ${issue_area} ${type} ${actors}`, Number(place)]),
    ...used.map(({ place, source_key, retrieved_at, uses }): [string, number] => [`${place} ${source_key} ${retrieved_at} ${uses}`, Number(place)]),
  ]);
  const [is, was] = [linesOf(counts, sources), linesOf(storedCounts, storedSources)];
  return new Set([...[...is].filter(([line]) => !was.has(line)), ...[...was].filter(([line]) => !is.has(line))].map(([, place]) => place));
}
