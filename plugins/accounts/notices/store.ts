import type { Reader, Tx } from 'civic';
import type { NoticeKind } from './words.ts';

export interface NoticeRow {
  id: string;
  account_key: number;
  kind: NoticeKind;
  detail: Record<string, string | null>;
  address: string | null;
  at: string;
}

export async function insertNotice(tx: Tx, notice: NoticeRow): Promise<void> {
  await tx('accounts_notices').insert({ ...notice, detail: JSON.stringify(notice.detail) });
}

/** The newest notices of an account that are not dismissed. */
export async function noticesOf(reader: Reader, accountKey: number, limit: number): Promise<NoticeRow[]> {
  const rows = (await reader('accounts_notices').where({ account_key: accountKey }).orderBy('key', 'desc').limit(limit)) as (Omit<NoticeRow, 'detail'> & { detail: string })[];
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as NoticeRow['detail'] }));
}

/** Deletes one notice of an account, or all. */
export async function deleteNotices(tx: Tx, accountKey: number, id?: string): Promise<void> {
  await tx('accounts_notices').where({ account_key: accountKey, ...(id !== undefined && { id }) }).delete();
}

export async function pruneNotices(tx: Tx, before: string): Promise<void> {
  await tx('accounts_notices').where('at', '<', before).delete();
}
