import { bulkInsert, type Reader, type Rebuild, type Tx } from 'civic';
import { lockTable, placesOfFlags, shownCount } from './review/queue-store.ts';
import { whereMatching, type FlagQuery, type FlagRow } from './store.ts';

export const COUNTS_TABLE = 'flags_counts';
/** Raise it when the same flags give other counts. */
export const COUNTS_VERSION = 1;

const KEY = ['place_key', 'status', 'flag_type', 'target_type'] as const;

/** Updates the counts after a change of flags, in its transaction and as its last step, because all such transactions change rows of this table. `before` has the same flags as they were; new flags are in `after` only. */
export async function updateCounts(tx: Tx, before: FlagRow[], after: FlagRow[]): Promise<void> {
  const places = await placesOfFlags(tx, after.map(({ key }) => Number(key)));
  const counts = new Map<string, Record<(typeof KEY)[number], string> & { flags: number }>();
  const add = (rows: FlagRow[], change: number) => {
    for (const { key, status, flag_type, target_type } of rows) {
      for (const place_key of ['', ...places.get(Number(key)) ?? []]) {
        const name = [place_key, status, flag_type, target_type].join(' ');
        const count = counts.get(name) ?? counts.set(name, { place_key, status, flag_type, target_type, flags: 0 }).get(name)!;
        count.flags += change;
      }
    }
  };
  add(before, -1);
  add(after, 1);
  // In the order of their keys, so that two transactions never wait for each other.
  const changed = [...counts.entries()].filter(([, { flags }]) => flags !== 0).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  await bulkInsert(tx, COUNTS_TABLE, changed, { onConflict: { columns: [...KEY], merge: [], add: ['flags'] } });
}

/** Returns how many flags match. */
export async function countFlags(reader: Reader, query: FlagQuery): Promise<number> {
  const row = await whereMatching(reader(COUNTS_TABLE).where({ place_key: query.place ?? '' }), query).sum({ flags: 'flags' }).first();
  return shownCount(row!.flags ?? 0);
}

/** Counts all flags again. */
export async function rebuildCounts({ write }: Pick<Rebuild, 'write'>): Promise<void> {
  const group = 'status, flag_type, target_type';
  await write(async (tx) => {
    await lockTable(tx, COUNTS_TABLE);
    await tx(COUNTS_TABLE).del();
    await tx.raw(`insert into flags_counts (place_key, ${group}, flags) select '', ${group}, count(*) from flags_flags group by ${group}`);
    await tx.raw(`insert into flags_counts (place_key, ${group}, flags) select place_key, ${group}, count(*) from flags_places join flags_flags on key = flag_key group by place_key, ${group}`);
  });
}
