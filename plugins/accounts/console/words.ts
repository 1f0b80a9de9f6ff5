import type { Texts } from 'civic';
import type { AuditRow } from '../audit/chain.ts';
import { OWN, type AuditKinds } from '../audit/kinds.ts';

/** Returns an event of the audit record as the page shows it. */
export function shownEvent({ kind, account_id, detail }: AuditRow, accountId: string, kinds: AuditKinds, t: Texts) {
  const { from, to, name } = detail as { from?: string; to?: string; name?: string };
  const what = to === undefined ? name : from === undefined ? to : t('audit.from_to', { from, to });
  const known = kinds.labelOf(kind);
  return { ...(known.plugin === OWN ? { label: t(`audit.${kind}`) } : known), what, by: account_id === null ? 'system' : account_id === accountId ? null : 'other' };
}
