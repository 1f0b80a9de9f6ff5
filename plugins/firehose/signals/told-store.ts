import { bulkInsert, type Reader, type Tx } from 'civic';

export interface ToldRow {
  /** An actor, or an issue area of a place. */
  subject_id: string;
  signal_id: string;
  type: string;
  audience: string;
  at: string;
}

const TOLD = 'firehose_told';
const MARKS = 'firehose_marks';
const DEMO = 'firehose_demo';
const AT_ONCE = 500;

export const noteTold = (tx: Tx, rows: ToldRow[]) => bulkInsert(tx, TOLD, rows, { onConflict: 'ignore' });

export async function toldOf(reader: Reader, subjects: string[]): Promise<ToldRow[]> {
  const rows: ToldRow[] = [];
  for (let from = 0; from < subjects.length; from += AT_ONCE) rows.push(...await reader(TOLD).whereIn('subject_id', subjects.slice(from, from + AT_ONCE)));
  return rows;
}

export async function forgetTold(tx: Tx, subjects: string[]): Promise<void> {
  for (let from = 0; from < subjects.length; from += AT_ONCE) await tx(TOLD).whereIn('subject_id', subjects.slice(from, from + AT_ONCE)).delete();
}

/** Of an actor that has become part of another, whose deletion now takes it back. */
export async function moveTold(tx: Tx, from: string, to: string): Promise<void> {
  const rows = await toldOf(tx, [from]);
  await noteTold(tx, rows.map((row) => ({ ...row, subject_id: to })));
  await forgetTold(tx, [from]);
}

/** What the log no longer has need not be taken back. */
export async function forgetToldBefore(tx: Tx, moment: string): Promise<void> {
  await tx(TOLD).where('at', '<', moment).delete();
}

export async function markOf(reader: Reader, name: string): Promise<string | null> {
  return (await reader(MARKS).where({ name }).first('value'))?.value ?? null;
}

export const putMark = (tx: Tx, name: string, value: string, at: string) => bulkInsert(tx, MARKS, [{ name, value, at }], { onConflict: { columns: ['name'], merge: ['value', 'at'] } });

export async function countDemoSignals(reader: Reader): Promise<number> {
  const [row] = await reader(DEMO).count({ count: '*' });
  return Number(row!.count);
}

export const noteDemoSignals = (tx: Tx, ids: string[]) => bulkInsert(tx, DEMO, ids.map((signal_id) => ({ signal_id })), { onConflict: 'ignore' });

export async function someDemoSignals(reader: Reader, limit: number): Promise<string[]> {
  return reader(DEMO).orderBy('signal_id').limit(limit).pluck('signal_id');
}

export async function forgetDemoSignals(tx: Tx, ids: string[]): Promise<void> {
  await tx(DEMO).whereIn('signal_id', ids).delete();
}
