import { bulkInsert, isId, type Reader, type Tx } from 'civic';
import type { JudgementRow } from './rows.ts';

const TABLE = 'directory_judgements';

export async function judgementsAmong(reader: Reader, recordKeys: number[]): Promise<JudgementRow[]> {
  return reader(TABLE).whereIn('left_key', recordKeys).orWhereIn('right_key', recordKeys).orderBy('key');
}

export async function judgementById(reader: Reader, id: string): Promise<JudgementRow | undefined> {
  return isId(id) ? reader(TABLE).where({ id: id.toLowerCase() }).first('*') : undefined;
}

/** The one that stands between two records, whichever was named first. */
export async function standingBetween(reader: Reader, a: number, b: number): Promise<JudgementRow | undefined> {
  return reader(TABLE).whereNull('deleted_at')
    .where((either) => either.where({ left_key: a, right_key: b }).orWhere({ left_key: b, right_key: a })).first('*');
}

/** Whether somebody said that a record of one actor is not one of the other. */
export async function differentBetween(reader: Reader, some: number[], others: number[]): Promise<JudgementRow | undefined> {
  return reader(TABLE).whereNull('deleted_at').where({ verdict: 'different' })
    .where((either) => either
      .where((one) => one.whereIn('left_key', some).whereIn('right_key', others))
      .orWhere((two) => two.whereIn('left_key', others).whereIn('right_key', some)))
    .first('*');
}

export const insertJudgements = (tx: Tx, rows: Omit<JudgementRow, 'key'>[]) => bulkInsert(tx, TABLE, rows);

export async function endJudgement(tx: Tx, key: number, at: string): Promise<void> {
  await tx(TABLE).where({ key }).update({ deleted_at: at });
}
