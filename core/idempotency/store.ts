import type { Reader, Tx } from '../database/types.ts';

/** Which request of whom. */
export interface AnswerId {
  caller: string;
  route: string;
  idempotency_key: string;
}

export interface AnswerRow extends AnswerId {
  /** Of the attempt that is making the answer. */
  token: string;
  body_hash: string;
  /** JSON; null while the answer is being made. */
  answer: string | null;
  begun_at: string;
}

/** Claims the key for a request. Returns the row of an earlier request instead, unless that request was abandoned, which means that it began outside `running`. */
export async function claimAnswer(tx: Tx, row: AnswerRow, running: { since: string; until: string }): Promise<AnswerRow | null> {
  const id = idOf(row);
  await tx('core_answers').where(id).whereNull('answer').whereNotBetween('begun_at', [running.since, running.until]).delete();
  const inserted = await tx('core_answers').insert(row).onConflict(['caller', 'route', 'idempotency_key']).ignore().returning('token');
  return inserted.length > 0 ? null : answerById(tx, id);
}

async function answerById(read: Reader, id: AnswerId): Promise<AnswerRow> {
  return read('core_answers').where(id).first();
}

export async function saveAnswer(tx: Tx, row: AnswerRow, answer: string): Promise<void> {
  await tx('core_answers').where({ ...idOf(row), token: row.token }).update({ answer });
}

export async function dropAnswer(tx: Tx, row: AnswerRow): Promise<void> {
  await tx('core_answers').where({ ...idOf(row), token: row.token }).delete();
}

export async function pruneAnswers(tx: Tx, before: string): Promise<number> {
  return tx('core_answers').where('begun_at', '<', before).delete();
}

function idOf({ caller, route, idempotency_key }: AnswerId): AnswerId {
  return { caller, route, idempotency_key };
}
