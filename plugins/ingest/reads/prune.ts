import type { Tx } from 'civic';
import type { Row } from '../adapters/types.ts';
import { deleteRows, deleteGoneRows, seeRows, type StoredRow } from './store.ts';

/** Whether a row is about a day before a time, so that it can be forgotten: neither its removal nor its return is news. Filings are not, because they change after years. */
export function isPast(row: Row, before: number): boolean {
  const date = row.kind === 'meeting' ? row.start : row.kind === 'post' ? row.published : null;
  return date !== null && Date.parse(date) < before;
}

/** Notes which rows a read had, and deletes those about the past that no read had since a time. A row that the source still lists stays, so that it is not taken for a new one. */
export async function pruneRows(tx: Tx, sourceKey: number, { stored, read, at, before }: { stored: StoredRow[]; read: Row[]; at: string; before: string }): Promise<void> {
  const listed = new Set(read.map(({ key }) => key));
  await seeRows(tx, sourceKey, stored.filter(({ row_key }) => listed.has(row_key)), at);
  const old = stored.filter(({ row_key, last_seen_at, data }) => !listed.has(row_key) && last_seen_at < before && isPast(JSON.parse(data) as Row, Date.parse(before)));
  await deleteRows(tx, old.map(({ key }) => key));
  await deleteGoneRows(tx, sourceKey, before);
}
