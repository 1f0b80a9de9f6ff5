import { dialectOf, type Reader, type Tx } from 'civic';
import type { RobotsStatus } from './robots.ts';

const TABLE = 'reader_hosts';

export interface HostRow {
  origin: string;
  robots: string | null;
  robots_status: RobotsStatus;
  robots_at: string;
  next_at: string;
  rest_until: string | null;
  failures: number;
}

export async function hostByOrigin(reader: Reader, origin: string): Promise<HostRow | undefined> {
  return reader(TABLE).where({ origin }).first('*');
}

/** Stores the robots.txt of a host. While it cannot be read, the last one that could counts. */
export async function saveRobots(tx: Tx, { origin, robots, robots_status, robots_at }: Pick<HostRow, 'origin' | 'robots' | 'robots_status' | 'robots_at'>): Promise<void> {
  await tx(TABLE).insert({ origin, robots, robots_status, robots_at, next_at: robots_at, rest_until: null, failures: 0 })
    .onConflict('origin').merge(['robots', 'robots_status', 'robots_at']);
}

/** Reads the row and keeps other nodes from changing it until the transaction ends. */
export async function lockedHost(tx: Tx, origin: string): Promise<HostRow | undefined> {
  const query = tx(TABLE).where({ origin });
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.first('*');
}

/** Deletes hosts that were not requested for a time. */
export async function pruneHosts(tx: Tx, before: string): Promise<number> {
  const old = tx(TABLE).where('robots_at', '<', before).where('next_at', '<', before).where((rest) => rest.whereNull('rest_until').orWhere('rest_until', '<', before)).limit(500).select('origin');
  return tx(TABLE).whereIn('origin', old).delete();
}

export async function updateHost(tx: Tx, origin: string, changes: Partial<Pick<HostRow, 'next_at' | 'rest_until' | 'failures'>>): Promise<void> {
  await tx(TABLE).where({ origin }).update(changes);
}
