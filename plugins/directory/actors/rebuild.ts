import { isBoom } from '@hapi/boom';
import type { Database, Rebuild, Tx } from 'civic';
import { actorKeysAfter, recordsByKey } from '../ledger/store.ts';
import { removeOrphanedDocuments, removeUnusedTerms } from '../search/sweep.ts';
import { countLiveActors } from './read-store.ts';
import { countListedPlaces, listedPlacesAfter, recountPlaces, storedModelsAfter, type Recounted } from './recount-store.ts';

const ACTORS_AT_ONCE = 200;
const PLACES_AT_ONCE = 20;

export interface RebuildContext {
  db: Database;
  /** The version of rows that need no rebuild; null to rebuild all. */
  current: number | null;
  /** Derives these actors and replaces their rows, as the transaction of a change does. */
  reproject(tx: Tx, keys: number[]): Promise<void>;
  /** Invalidates cached responses, here and on other nodes. */
  announce(tx: Tx, recounted: Recounted): Promise<void>;
}

/**
 * Replaces the read model row by row, so that all rows can be read meanwhile. Each actor is locked and derived from its claims
 * as they are in that transaction, so a change beside the rebuild is neither lost nor overwritten. Rows of the current version
 * are skipped, so a rebuild that was interrupted continues.
 */
export async function rebuildActors(context: RebuildContext, { write, progress }: Pick<Rebuild, 'write' | 'progress'>): Promise<void> {
  const { db } = context;
  const total = await countLiveActors(db.read) + await countListedPlaces(db.read);
  let done = 0;
  const advance = (count: number) => progress(done = Math.min(total, done + count), total);
  await removeOrphanedDocuments(db, write);
  for (let after = 0, page; (page = await actorsAfter(context, after)).keys.length > 0; after = page.keys.at(-1)!) {
    const { outdated, keys } = page;
    if (outdated.length > 0) await replaceActors(context, write, outdated);
    await advance(keys.length);
  }
  // Counters were changed by what each actor adds and removes, which is wrong where the version before counted otherwise.
  for (let after = -1, places; (places = await listedPlacesAfter(db.read, after, PLACES_AT_ONCE)).length > 0; after = places.at(-1)!) {
    const batch = places;
    await write(async (tx) => {
      const recounted = await recountPlaces(tx, batch);
      if (recounted.places.length > 0) await context.announce(tx, recounted);
    });
    await advance(batch.length);
  }
  await removeUnusedTerms(db, write);
}

/** When the actors of a batch cannot be derived, each is tried alone, so that the error names the one whose rows were changed outside of Civic. */
async function replaceActors(context: RebuildContext, write: Rebuild['write'], keys: number[]): Promise<void> {
  let isUnderivable = false;
  try {
    await write((tx) => context.reproject(tx, keys).catch((error: unknown) => {
      isUnderivable = true;
      throw error;
    }));
  } catch (error) {
    // A full disk or a lost connection is no fault of an actor.
    if (!isUnderivable || (isBoom(error) && error.isServer)) throw error;
    if (keys.length === 1) throw new Error(`The actor ${(await recordsByKey(context.db.read, keys))[0]?.id} was not rebuilt: ${(error as Error).message}`, { cause: error });
    for (const key of keys) await replaceActors(context, write, [key]);
  }
}

/** The next actors of the ledger and of the read model, and those among them whose rows must be replaced or removed. */
async function actorsAfter({ db, current }: RebuildContext, after: number): Promise<{ keys: number[]; outdated: number[] }> {
  const live = new Set(await actorKeysAfter(db.read, after, ACTORS_AT_ONCE));
  const stored = new Map((await storedModelsAfter(db.read, after, ACTORS_AT_ONCE)).map(({ key, model }) => [key, model]));
  const keys = [...new Set([...live, ...stored.keys()])].sort((a, b) => a - b).slice(0, ACTORS_AT_ONCE);
  return { keys, outdated: keys.filter((key) => !live.has(key) || current === null || stored.get(key) !== current) };
}
