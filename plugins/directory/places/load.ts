import type { Check, Database, Rebuild } from 'civic';
import type { RowBatch } from './prepared.ts';
import { countMissingOwnPlaces, countPlaces, loadGazetteer, loadedGazetteer } from './store.ts';

export const GAZETTEER_TABLES = ['directory_places', 'directory_place_aliases', 'directory_zips', 'directory_gazetteer'];

/** Replaces the gazetteer, in one transaction: requests need all of it. */
export async function loadPlaces({ write, progress }: Pick<Rebuild, 'write' | 'progress'>, read: () => Promise<RowBatch[]> = readPrepared): Promise<void> {
  const batches = await read();
  await write((tx) => loadGazetteer(tx, batches, progress));
}

/** Loaded when it is needed: the modules that compute the gazetteer are part of it. */
async function readPrepared(): Promise<RowBatch[]> {
  return (await import('./prepared.ts')).readPreparedGazetteer();
}

export function gazetteerCheck(db: () => Database): Check {
  return {
    name: 'gazetteer',
    async run() {
      const loaded = await loadedGazetteer(db().read);
      if (!loaded) return { status: 'failed', detail: 'there are no places', fix: 'bin/civic migrate loads them, and so does a start' };
      const missing = await countMissingOwnPlaces(db().read);
      if (missing > 0) return { status: 'failed', detail: `${missing} added places are missing from the gazetteer`, fix: 'bin/civic directory rebuild' };
      return { status: 'ok', detail: `${(await countPlaces(db().read)).toLocaleString('en-US')} places (version ${loaded.version})` };
    },
  };
}
