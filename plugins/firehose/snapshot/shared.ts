import type { Log } from '../log/log.ts';
import type { Snapshot } from './snapshot.ts';

/** Snapshots that were just read, for all who ask the same before anything new comes: many wait for one signal. */
export interface SharedSnapshots {
  of(key: string, read: () => Promise<Snapshot>): Promise<Snapshot>;
}

const MOST = 64;
/** A larger snapshot is shared only while it is being read, and not cached. */
const MOST_CHARACTERS = 1_000_000;

export function createSharedSnapshots(log: Log): SharedSnapshots {
  const reading = new Map<string, Promise<Snapshot>>();
  log.onEntries(() => reading.clear());
  log.onPruned(() => reading.clear());
  return {
    of(key, read) {
      const known = reading.get(key);
      if (known) return known;
      if (reading.size >= MOST) reading.delete(reading.keys().next().value!);
      const made = read();
      reading.set(key, made);
      const drop = () => { if (reading.get(key) === made) reading.delete(key); };
      made.then(({ rows }) => { if (rows.reduce((sum, { signal }) => sum + signal.length, 0) > MOST_CHARACTERS) drop(); }, drop);
      return made;
    },
  };
}
