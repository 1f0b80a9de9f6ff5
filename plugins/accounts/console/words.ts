import type { Texts } from 'civic';
import type { AuditRow } from '../audit/chain.ts';
import { OWN, type AuditKinds } from '../audit/kinds.ts';

/** Returns what an event of the audit record is called, and what changed. */
export function eventLabel({ kind, detail }: AuditRow, kinds: AuditKinds, t: Texts): { plugin?: string; label: string; what?: string } {
  const { from, to, name } = detail as { from?: string; to?: string; name?: string };
  const what = to === undefined ? name : from === undefined ? to : t('audit.from_to', { from, to });
  const known = kinds.labelOf(kind);
  return { ...(known.plugin === OWN ? { label: t(`audit.${kind}`) } : known), what };
}

/** Returns an event of the audit record as the page of an account shows it. */
export function shownEvent(row: AuditRow, accountId: string, kinds: AuditKinds, t: Texts) {
  return { ...eventLabel(row, kinds, t), by: row.account_id === null ? 'system' : row.account_id === accountId ? null : 'other' };
}
