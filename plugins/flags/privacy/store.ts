import { dialectOf, type Reader, type Tx } from 'civic';

export interface HoldRow {
  key: number;
  hold_id: string;
  flag_key: number;
  actor_id: string;
  reporter_hash: string | null;
  at: string;
}

export async function insertHold(tx: Tx, row: Omit<HoldRow, 'key'>): Promise<void> {
  await tx('flags_holds').insert(row);
}

export async function holdsOfFlags(reader: Reader, flagKeys: number[]): Promise<HoldRow[]> {
  return reader('flags_holds').whereIn('flag_key', flagKeys).orderBy('key');
}

/** Returns the hold that the directory knows by this id. */
export async function holdOf(reader: Reader, hold_id: string, actor_id: string): Promise<HoldRow | undefined> {
  return reader('flags_holds').where({ actor_id, hold_id }).first();
}

export async function updateHold(tx: Tx, key: number, hold_id: string): Promise<void> {
  await tx('flags_holds').where({ key }).update({ hold_id });
}

/** Returns how many holds a reporter began since a time. Reports of one reporter wait for each other; SQLite has one writer anyway. */
export async function countHoldsOf(tx: Tx, reporter_hash: string, since: string): Promise<number> {
  if (dialectOf(tx) === 'postgres') await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`flags hold ${reporter_hash}`]);
  const row = await tx('flags_holds').where({ reporter_hash }).where('at', '>', since).count({ count: '*' }).first();
  return Number(row!.count);
}

export async function wasHeldSince(tx: Tx, actor_id: string, since: string): Promise<boolean> {
  return await tx('flags_holds').where({ actor_id }).where('at', '>', since).first('key') !== undefined;
}

/** Deletes who began holds before a time. */
export async function forgetHolders(tx: Tx, before: string): Promise<void> {
  await tx('flags_holds').where('at', '<', before).whereNotNull('reporter_hash').update({ reporter_hash: null });
}
