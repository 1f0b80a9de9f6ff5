import type { Reader, Tx } from 'civic';

const TABLE = 'console_counts';

export interface HourCount {
  /** When the hour began. */
  hour: string;
  name: string;
  count: number;
}

/** Adds to the counts of an hour, to which other nodes add as well. */
export async function addCounts(tx: Tx, hour: string, counts: ReadonlyMap<string, number>): Promise<void> {
  // Sorted by name on every node, so that two nodes cannot deadlock.
  const rows = [...counts].map(([name, count]) => ({ hour, name, count })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  await tx(TABLE).insert(rows).onConflict(['hour', 'name']).merge({ count: tx.raw('console_counts.count + excluded.count') });
}

/** Returns the counts of these series for each hour since a time. */
export async function countsSince(reader: Reader, names: string[], since: string): Promise<HourCount[]> {
  const rows = (await reader(TABLE).where('hour', '>=', since).whereIn('name', names).select('hour', 'name', 'count')) as HourCount[];
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Deletes the counts of hours before `before`, and of hours after `after`, which were stored while a clock was ahead. */
export async function pruneCounts(tx: Tx, before: string, after: string): Promise<void> {
  await tx(TABLE).where('hour', '<', before).orWhere('hour', '>', after).delete();
}
