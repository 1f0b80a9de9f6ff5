import { bulkInsert, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { ActorRow } from './derive.ts';

/** What an actor row says of the other tables: enough to take its share out of them. */
export type Standing = Pick<ActorRow, 'key' | 'tags' | 'sources' | 'rank' | 'visibility'>;

/** And what is compared with what became of it. */
export type Before = Standing & Pick<ActorRow, 'fresh_until' | 'aging_until'>;

export interface ListingRow {
  place: number;
  actor_key: number;
  name_sort: string;
  updated_at: string;
  source_count: number;
  tags: string;
  fresh_until: number | null;
  aging_until: number | null;
  workspace_id: string | null;
}

export interface CountRow {
  place: number;
  issue_area: string;
  type: string;
  actors: number;
}

export interface PlaceSourceRow {
  place: number;
  source_key: number;
  retrieved_at: string;
  uses: number;
}

export async function standingOf(reader: Reader, keys: number[]): Promise<Before[]> {
  const rows: Before[] = [];
  for (const some of chunksOf(keys)) rows.push(...await reader('directory_actors').whereIn('key', some).select('key', 'tags', 'sources', 'rank', 'visibility', 'fresh_until', 'aging_until'));
  return rows;
}

export const insertActors = (tx: Tx, rows: ActorRow[]) => bulkInsert(tx, 'directory_actors', rows);

export async function deleteActors(tx: Tx, keys: number[]): Promise<void> {
  for (const some of chunksOf(keys)) {
    await tx('directory_actors').whereIn('key', some).delete();
    await tx('directory_listings').whereIn('actor_key', some).delete();
  }
}

export const insertListings = (tx: Tx, rows: ListingRow[]) => bulkInsert(tx, 'directory_listings', rows);

/** Adds to the counters; in one order, so that two writers do not wait for each other in a circle. */
export async function addCounts(tx: Tx, rows: CountRow[]): Promise<void> {
  const sorted = rows.filter(({ actors }) => actors !== 0)
    .sort((a, b) => a.place - b.place || (a.issue_area < b.issue_area ? -1 : a.issue_area > b.issue_area ? 1 : a.type < b.type ? -1 : 1));
  await bulkInsert(tx, 'directory_counts', sorted, { onConflict: { columns: ['place', 'issue_area', 'type'], merge: [], add: ['actors'] } });
}

/** The counters of all types by issue area, as they are now, of these places. */
export async function countsOfPlaces(reader: Reader, places: number[]): Promise<Omit<CountRow, 'type'>[]> {
  const rows: Omit<CountRow, 'type'>[] = [];
  for (const some of chunksOf(places)) rows.push(...await reader('directory_counts').whereIn('place', some).where({ type: '' }).select('place', 'issue_area', 'actors'));
  return rows;
}

/** Sources that further actors of a place stand on, and those that fewer do. */
export async function addPlaceSources(tx: Tx, rows: PlaceSourceRow[]): Promise<void> {
  const sorted = rows.toSorted((a, b) => a.source_key - b.source_key || a.place - b.place);
  await bulkInsert(tx, 'directory_place_sources', sorted.filter(({ uses }) => uses > 0), {
    onConflict: { columns: ['source_key', 'place'], merge: ['retrieved_at'], add: ['uses'] },
  });
  // The time is that of the stored row; an erased source has none, and Postgres rejects an empty one.
  const lessened = sorted.filter(({ uses }) => uses < 0).map((row) => ({ ...row, retrieved_at: new Date(0).toISOString() }));
  await bulkInsert(tx, 'directory_place_sources', lessened, { onConflict: { columns: ['source_key', 'place'], merge: [], add: ['uses'] } });
  const keys = [...new Set(lessened.map(({ source_key }) => source_key))];
  for (const some of chunksOf(keys)) await tx('directory_place_sources').whereIn('source_key', some).where('uses', '<=', 0).delete();
}

/** A source that was looked at again moves in the lists of its places. */
export async function moveSources(tx: Tx, sources: { key: number; retrieved_at: string }[]): Promise<void> {
  for (const { key, retrieved_at } of sources) await tx('directory_place_sources').where({ source_key: key }).update({ retrieved_at });
}
