import type { AuditRow } from '../audit/chain.ts';
import type { AuditKinds } from '../audit/kinds.ts';

/** Returns an event of the audit record in words. */
export function eventWords({ kind, account_id, detail }: AuditRow, accountId: string, kinds: AuditKinds): string {
  const { from, to, name } = detail as { from?: string; to?: string; name?: string };
  const what = to === undefined ? name : from === undefined ? to : `${from} to ${to}`;
  const who = account_id === null ? ', by the operator or the system' : account_id === accountId ? '' : ', by an administrator or another member';
  return `${kinds.labelOf(kind)}${what === undefined ? '' : ` (${what})`}${who}`;
}
