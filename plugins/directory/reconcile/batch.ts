import { isId, lazily, type Reader } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { actorsByIds } from '../actors/read-store.ts';
import { chunksOf } from '../chunks.ts';
import { actorsWhole } from './actors.ts';
import { PROPERTIES_BY_ID, type Cell } from './properties.ts';
import { BadRequest, type Extension, type Query } from './query.ts';
import type { Pause } from './queue.ts';
import type { Rated, Result } from './score.ts';

// Comparing needs libraries that would slow down the start.
const loadComparison = lazily(() => Promise.all([import('./candidates.ts'), import('./places.ts'), import('./score.ts')]));

/** Runs the queries of a batch one after the other. Each reads its own database snapshot, which ends before its candidates are compared. */
export async function reconcile(context: DirectoryContext, queries: Map<string, Query>, pause: Pause): Promise<Record<string, { result: Result[] }>> {
  const [{ candidatesFor }, { placesOf }, { prepareQuery, rate, resultsOf }] = await loadComparison();
  const known = new Map<string, string[]>();
  const results: [string, { result: Result[] }][] = [];
  for (const [name, query] of queries) {
    const wanted = prepareQuery(query, await placesOf(context, query, known, pause));
    await pause();
    const rated: Rated[] = [];
    for (const actor of await context.civic.db.snapshot((reader) => candidatesFor(reader, context, wanted))) {
      rated.push(rate(actor, wanted));
      await pause();
    }
    results.push([name, { result: resultsOf(rated, query.limit) }]);
  }
  return Object.fromEntries(results);
}

/** Actors that are read at once. */
const CHUNK = 20;

/** Returns the requested columns of actors that a client matched earlier. An unknown id has empty cells. */
export async function extend(context: DirectoryContext, { ids, properties }: Extension, pause: Pause): Promise<object> {
  const columns = properties.map(({ id }) => {
    const found = PROPERTIES_BY_ID.get(id);
    if (!found) throw new BadRequest(`extend: there is no property "${id.slice(0, 100)}"`);
    return found;
  });
  const rows: [string, Record<string, Cell[]>][] = [];
  for (const some of chunksOf(ids, CHUNK)) {
    const actors = await context.civic.db.snapshot((reader) => actorsOf(reader, context, some));
    for (const id of some) {
      const actor = actors.get(id.toLowerCase());
      rows.push([id, Object.fromEntries(columns.map((column) => [column.id, actor ? column.cells(actor) : []]))]);
      await pause();
    }
  }
  return { meta: columns.map(({ id, name }) => ({ id, name })), rows: Object.fromEntries(rows) };
}

async function actorsOf(reader: Reader, context: DirectoryContext, ids: string[]) {
  const found = await actorsByIds(reader, ids.filter(isId).map((id) => id.toLowerCase()));
  const actors = await actorsWhole(reader, context, found.map(({ key }) => key), ['sources']);
  return new Map(actors.map((actor) => [actor.id, actor]));
}
