import { latestEnd } from '../clock.ts';
import type { Database, Reader, Tx } from '../database/types.ts';
import type { DueTimes } from '../jobs.ts';

const TABLE = 'core_job_dues';

export interface Due {
  name: string;
  key: string;
}

interface DueRow extends Due {
  next_at: string;
  every_seconds: number;
}

export async function setDue(tx: Tx, { name, key }: Due, { at, every_seconds }: DueTimes): Promise<void> {
  await tx(TABLE).insert({ name, key, next_at: new Date(at).toISOString(), every_seconds }).onConflict(['name', 'key']).merge(['next_at', 'every_seconds']);
}

export async function removeDue(tx: Tx, { name, key }: Due): Promise<void> {
  await tx(TABLE).where({ name, key }).delete();
}

export async function dueTimes(reader: Reader, name: string, keys: string[]): Promise<Map<string, string>> {
  const rows: DueRow[] = await reader(TABLE).where({ name }).whereIn('key', keys).select('key', 'next_at');
  return new Map(rows.map(({ key, next_at }) => [key, next_at]));
}

export async function hasDue(reader: Reader, names: string[], now: number): Promise<boolean> {
  if (names.length === 0) return false;
  const row = await reader(TABLE).whereIn('name', names).where('next_at', '<=', new Date(now).toISOString()).first('key');
  return row !== undefined;
}

/** Takes the keys that have been due for longest, and sets their next times: multiples of the period, so that they do not drift, and in the future. */
export async function takeDue(db: Database, tx: Tx, names: string[], now: number, limit: number): Promise<Due[]> {
  const query = tx(TABLE).whereIn('name', names).where('next_at', '<=', new Date(now).toISOString()).orderBy('next_at').limit(limit);
  if (db.dialect === 'postgres') query.forUpdate().skipLocked();
  const rows: DueRow[] = await query.select('name', 'key', 'next_at', 'every_seconds');
  for (const { name, key, next_at, every_seconds } of rows) {
    await tx(TABLE).where({ name, key }).update({ next_at: new Date(nextTime(Date.parse(next_at), every_seconds * 1000, now)).toISOString() });
  }
  return rows.map(({ name, key }) => ({ name, key }));
}

/** Returns the first time after now that is a multiple of the period after a planned time. */
export function nextTime(planned: number, period: number, now: number): number {
  return planned + (Math.floor((now - planned) / period) + 1) * period;
}

/** Makes keys due whose next time was written while a clock was ahead: no time is further away than the period. */
export async function pullDue(tx: Tx, now: number): Promise<void> {
  const rows: DueRow[] = await tx(TABLE).where('next_at', '>', new Date(latestEnd(now, 0)).toISOString()).select('*');
  for (const { name, key, next_at, every_seconds } of rows) {
    if (Date.parse(next_at) > latestEnd(now, every_seconds * 1000)) await tx(TABLE).where({ name, key }).update({ next_at: new Date(now).toISOString() });
  }
}
