import { lazily, type Tx } from 'civic';
import type { SearchDocument } from '../search/document.ts';
import { priorOf, rankOf } from '../search/document.ts';
import { putDocuments } from '../search/store.ts';
import { tagged, tagList, type ActorRow, type Cluster, type Known } from './derive.ts';
import { effectsOf, lossesOf, type Effect, type Loss } from './effects.ts';
import type { ActorModel } from './model.ts';
import { addCounts, addPlaceSources, deleteActors, insertActors, insertListings, standingOf, type CountRow, type ListingRow, type PlaceSourceRow, type Standing } from './store.ts';

const loadFind = lazily(() => import('../matching/find.ts'));

/** What a write did to the read model, for caches and other nodes. */
export interface Projected {
  rows: ActorRow[];
  /** Keys of actors that are no more. */
  gone: number[];
  /** Places whose public lists or counts changed. */
  places: Set<number>;
  /** Sources that public actors among these cite, or did; empty when no public actor changed. */
  sources: Set<number>;
  /** To actors that were there before. */
  effects: Effect[];
  lost: Loss[];
}

/**
 * Works actors out again and puts them into every table they are read from, in the same transaction as the change itself.
 * Of those that are new nothing has been stored before, so there is nothing to take back.
 */
export async function project(tx: Tx, { fresh, changed }: { fresh: Cluster[]; changed: Cluster[] }, known: Known, model: ActorModel): Promise<Projected> {
  const changedKeys = changed.map(({ key }) => key);
  const before = changed.length === 0 ? [] : await standingOf(tx, changedKeys);
  const rows: ActorRow[] = [];
  const documents: SearchDocument[] = [];
  const shown: { cluster: Cluster; type: ActorRow['type'] }[] = [];
  for (const cluster of [...fresh, ...changed]) {
    const derived = model.derive(cluster, known);
    if (!derived) continue;
    const prior = priorOf(derived.row.source_count);
    const row = { ...derived.row, rank: rankOf(prior, cluster.key), model: model.version };
    rows.push(row);
    shown.push({ cluster, type: row.type });
    documents.push({ key: row.key, prior, name: derived.name, texts: derived.texts, tags: tagList(row.tags), workspace: row.workspace_id });
  }
  await deleteActors(tx, changedKeys);
  await insertActors(tx, rows);
  await insertListings(tx, rows.flatMap(listingsOf));
  const { places, lost } = await putCounts(tx, before, rows, known);
  // Loaded with the first write: it brings the public suffix list and the rules of telephone numbers along.
  const { putBlocks } = await loadFind();
  await putBlocks(tx, shown, changedKeys);
  await putDocuments(tx, documents, before.map(({ rank }) => rank));
  const kept = new Set(rows.map(({ key }) => key));
  const sources = new Set([...before, ...rows].filter(isPublic).flatMap(sourceKeysOf));
  return { rows, places, sources, lost, effects: effectsOf(before, rows, known), gone: before.map(({ key }) => key).filter((key) => !kept.has(key)) };
}

const isPublic = ({ visibility }: Pick<Standing, 'visibility'>): boolean => visibility === 'public';

export function placesOf(standing: { tags: string }): number[] {
  return tagged(standing.tags, 'p').map(Number);
}

function listingsOf({ key, name_sort, updated_at, source_count, tags, fresh_until, aging_until, workspace_id }: ActorRow): ListingRow[] {
  return placesOf({ tags }).map((place) => ({ place, actor_key: key, name_sort, updated_at, source_count, tags, fresh_until, aging_until, workspace_id }));
}

/** Counts public actors. Returns the places whose counters were touched, and the issue areas that are no longer covered. */
async function putCounts(tx: Tx, before: Standing[], after: Standing[], known: Known): Promise<{ places: Set<number>; lost: Loss[] }> {
  const counts = new Map<string, CountRow>();
  const sources = new Map<string, PlaceSourceRow>();
  const places = new Set<number>();
  const count = (standing: Standing, change: 1 | -1) => {
    if (!isPublic(standing)) return;
    for (const place of placesOf(standing)) {
      places.add(place);
      for (const cell of cellsOf(standing, place)) addTo(counts, `${place} ${cell.issue_area} ${cell.type}`, cell, 'actors', change);
      for (const key of sourceKeysOf(standing)) {
        const retrieved = known.sources.get(key)?.retrieved_at;
        addTo(sources, `${key} ${place}`, { place, source_key: key, retrieved_at: retrieved ?? '', uses: 0 }, 'uses', change);
      }
    }
  };
  for (const standing of before) count(standing, -1);
  for (const standing of after) count(standing, 1);
  await addCounts(tx, [...counts.values()]);
  await addPlaceSources(tx, [...sources.values()].filter(({ uses }) => uses !== 0));
  return { places, lost: await lossesOf(tx, [...counts.values()]) };
}

/** The counters that an actor is in. */
export function cellsOf({ tags }: Pick<Standing, 'tags'>, place: number): CountRow[] {
  const [type] = tagged(tags, 't');
  return ['', ...tagged(tags, 'i')].flatMap((issue_area) => ['', type!].map((one) => ({ place, issue_area, type: one, actors: 0 })));
}

function addTo<Row extends Record<Name, number>, Name extends string>(rows: Map<string, Row>, id: string, fresh: Row, column: Name, change: number): void {
  const row = rows.get(id) ?? fresh;
  rows.set(id, row);
  (row as Record<Name, number>)[column] += change;
}

export function sourceKeysOf({ sources }: Pick<Standing, 'sources'>): number[] {
  return sources === '' ? [] : sources.split(' ').map(Number);
}
