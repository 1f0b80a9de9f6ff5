import { latestEnd } from '../clock.ts';
import type { Database, Reader, Tx } from '../database/types.ts';
import { nextTime } from './dues.ts';

const TABLE = 'core_job_schedules';

/** A kind that runs every so often. */
export interface Schedule {
  name: string;
  every_seconds: number;
}

/** Makes schedules known. A new one is due at once; one that was slowed down or sped up keeps to its new pace. */
export async function saveSchedules(tx: Tx, schedules: Schedule[], now: number): Promise<void> {
  for (const { name, every_seconds } of schedules) {
    const latest = new Date(now + every_seconds * 1000).toISOString();
    await tx(TABLE).insert({ name, next_at: new Date(now).toISOString() }).onConflict('name').ignore();
    await tx(TABLE).where({ name }).where('next_at', '>', latest).update({ next_at: latest });
  }
}

/** Returns when each kind runs next. */
export async function nextRuns(reader: Reader, schedules: Schedule[]): Promise<(Schedule & { next_at: string })[]> {
  const rows: { name: string; next_at: string }[] = await reader(TABLE).whereIn('name', schedules.map(({ name }) => name)).orderBy(['next_at', 'name']).select('name', 'next_at');
  return rows.map(({ name, next_at }) => ({ name, next_at, every_seconds: schedules.find((schedule) => schedule.name === name)!.every_seconds }));
}

export async function hasDueSchedule(db: Database, schedules: Schedule[], now: number): Promise<boolean> {
  const row = await dueRows(db.read, schedules, now).first('name');
  return row !== undefined;
}

/** Takes what is due and sets its next time: on the grid of the first, so that it does not drift, and in the future, so that a long pause is made up for once. */
export async function takeDueSchedules(db: Database, tx: Tx, schedules: Schedule[], now: number): Promise<string[]> {
  const query = dueRows(tx, schedules, now);
  if (db.dialect === 'postgres') query.forUpdate().skipLocked();
  const due: { name: string; next_at: string }[] = await query.select('name', 'next_at');
  for (const { name, next_at } of due) {
    const period = schedules.find((schedule) => schedule.name === name)!.every_seconds * 1000;
    const planned = Math.min(Date.parse(next_at), now);
    await tx(TABLE).where({ name }).update({ next_at: new Date(nextTime(planned, period, now)).toISOString() });
  }
  return due.map(({ name }) => name);
}

function dueRows(reader: Database['read'], schedules: Schedule[], now: number) {
  return reader(TABLE).whereIn('name', schedules.map(({ name }) => name)).where((due) => {
    due.where('next_at', '<=', new Date(now).toISOString());
    for (const { name, every_seconds } of schedules) due.orWhere({ name }).andWhere('next_at', '>', new Date(latestEnd(now, every_seconds * 1000)).toISOString());
  });
}
