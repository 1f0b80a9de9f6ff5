import { bulkInsert, type Reader, type Tx } from 'civic';

/** A signal that was published about a subject. */
export interface PublishedRow {
  /** An actor, or an issue area of a place. */
  subject_id: string;
  signal_id: string;
  type: string;
  audience: string;
  at: string;
}

const PUBLISHED = 'firehose_told';
const MARKS = 'firehose_marks';
const DEMO = 'firehose_demo';
const AT_ONCE = 500;

export const recordPublished = (tx: Tx, rows: PublishedRow[]) => bulkInsert(tx, PUBLISHED, rows, { onConflict: 'ignore' });

export async function publishedAbout(reader: Reader, subjects: string[]): Promise<PublishedRow[]> {
  const rows: PublishedRow[] = [];
  for (let from = 0; from < subjects.length; from += AT_ONCE) rows.push(...await reader(PUBLISHED).whereIn('subject_id', subjects.slice(from, from + AT_ONCE)));
  return rows;
}

export async function deletePublished(tx: Tx, subjects: string[]): Promise<void> {
  for (let from = 0; from < subjects.length; from += AT_ONCE) await tx(PUBLISHED).whereIn('subject_id', subjects.slice(from, from + AT_ONCE)).delete();
}

/** Moves the signals of a merged actor to the actor that remains, whose deletion then withdraws them. */
export async function movePublished(tx: Tx, from: string, to: string): Promise<void> {
  const rows = await publishedAbout(tx, [from]);
  await recordPublished(tx, rows.map((row) => ({ ...row, subject_id: to })));
  await deletePublished(tx, [from]);
}

/** Deletes rows about signals that retention has removed from the log: nothing is left to withdraw. */
export async function deletePublishedBefore(tx: Tx, moment: string): Promise<void> {
  await tx(PUBLISHED).where('at', '<', moment).delete();
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
