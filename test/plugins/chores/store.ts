import type { Reader, Tx } from 'civic';

export interface Run {
  process: number;
  attempt: number;
  begun_at: string;
  ended_at: string | null;
}

export interface Chore {
  id: string;
  /** How often it was done to its end; more than once only when a process died before it could say so. */
  done: number;
  runs: Run[];
}

export async function addChore(tx: Tx, id: string): Promise<void> {
  await tx('chores_chores').insert({ id, done: 0 });
}

export async function choreById(tx: Tx, id: string): Promise<Chore | null> {
  const chore = await tx('chores_chores').where({ id }).first('id', 'done');
  if (!chore) return null;
  return { ...chore, runs: await tx('chores_runs').where({ chore: id }).select('process', 'attempt', 'begun_at', 'ended_at').orderBy('key') };
}

/** Answers the key of the run. */
export async function beginRun(tx: Tx, run: { chore: string; process: number; attempt: number; begun_at: string }): Promise<number> {
  const [row] = await tx('chores_runs').insert({ ...run, ended_at: null }).returning('key');
  return row.key;
}

export async function endRun(tx: Tx, key: number, chore: string, endedAt: string): Promise<void> {
  await tx('chores_runs').where({ key }).update({ ended_at: endedAt });
  await tx('chores_chores').where({ id: chore }).increment('done', 1);
}

export async function countWaiting(read: Reader): Promise<number> {
  const [counted] = await read('chores_chores').where({ done: 0 }).count({ waiting: '*' });
  return Number(counted!.waiting);
}
