import type { JudgementRow, RecordRow } from './rows.ts';

/** Which records are one actor by the judgements that stand: each record's key with that of the record it has become. */
export function clustersOf(records: RecordRow[], judgements: JudgementRow[]): Map<number, number> {
  const joined = new Map(judgements.filter(({ verdict, deleted_at }) => verdict === 'same' && deleted_at === null).map(({ left_key, right_key }) => [left_key, right_key]));
  return new Map(records.map(({ key }) => [key, endOf(key, joined)]));
}

// A record joins another only while it stands for itself, so a chain has one end and no circle.
function endOf(key: number, joined: Map<number, number>): number {
  let end = key;
  for (let next = joined.get(end); next !== undefined; next = joined.get(end)) end = next;
  return end;
}
