import type { Check, Database, Progress } from 'civic';
import { GAZETTEER_VERSION } from './gazetteer.ts';
import { countMissingOwnPlaces, countPlaces, loadedGazetteer, loadGazetteer } from './store.ts';
import type { RowBatch } from './prepared.ts';

const SILENT: Progress = () => undefined;

/** Loads the gazetteer when the database has none, or one of another version. Returns whether it did. */
export async function bringGazetteerUpToDate(db: Database, progress: Progress = SILENT, read: () => Promise<RowBatch[]> = readPrepared): Promise<boolean> {
  if (await isUpToDate(db)) return false;
  const batches = await read();
  await db.write((tx) => loadGazetteer(tx, batches, (done, total) => progress('Loading places', done, total)), { long: true });
  return true;
}

/** Loaded when it is needed: the modules that compute the gazetteer are part of it. */
async function readPrepared(): Promise<RowBatch[]> {
  return (await import('./prepared.ts')).readPreparedGazetteer();
}

export async function isUpToDate(db: Database): Promise<boolean> {
  return (await loadedGazetteer(db.read))?.version === GAZETTEER_VERSION;
}

export function gazetteerCheck(db: () => Database): Check {
  return {
    name: 'gazetteer',
    async run() {
      const loaded = await loadedGazetteer(db().read);
      if (loaded?.version !== GAZETTEER_VERSION) {
        return { status: 'failed', detail: loaded ? `the places are of ${loaded.version}, not of ${GAZETTEER_VERSION}` : 'there are no places', fix: 'bin/civic migrate loads them, and so does a start' };
      }
      const missing = await countMissingOwnPlaces(db().read);
      if (missing > 0) return { status: 'failed', detail: `${missing} added places are missing from the gazetteer`, fix: 'bin/civic directory rebuild' };
      return { status: 'ok', detail: `${(await countPlaces(db().read)).toLocaleString('en-US')} places (${loaded.version})` };
    },
  };
}
