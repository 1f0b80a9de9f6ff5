import type { AuditRow } from '../audit/chain.ts';
import type { AuditKind } from '../audit/store.ts';

/** An event of the audit record, in words. */
const WORDS: Record<AuditKind, string> = {
  audit_sealed: 'Sealing of the record began',
  account_made: 'The account was created',
  account_disabled: 'The account was disabled',
  account_enabled: 'The account was enabled',
  plan_set: 'The plan was set',
  role_set: 'The role was set',
  email_requested: 'A new e-mail address was requested',
  email_changed: 'The e-mail address was changed',
  identity_confirmed: 'Identity was confirmed for a change',
  key_made: 'A key was created',
  key_revoked: 'A key was revoked',
  workspace_made: 'A workspace was created',
  workspace_chosen: 'A workspace was chosen',
  member_added: 'A member was added',
  member_changed: 'A member’s role was changed',
  member_removed: 'A member left or was removed',
  invitation_made: 'An invitation was created',
  invitation_removed: 'An invitation was withdrawn',
  invitation_declined: 'An invitation was declined',
  link_made: 'A sign-in link was created',
  link_used: 'A sign-in link was used',
  signed_in: 'Signed in',
  sign_in_refused: 'A sign-in was refused',
  session_ended: 'A session ended',
  passkey_added: 'A passkey was added',
  passkey_removed: 'A passkey was removed',
  codes_made: 'Recovery codes were created',
  code_used: 'A recovery code was used',
};

export function eventWords({ kind, account_id, detail }: AuditRow, accountId: string): string {
  const { from, to, name } = detail as { from?: string; to?: string; name?: string };
  const what = to === undefined ? name : from === undefined ? to : `${from} to ${to}`;
  const who = account_id === null ? ', by the operator or the system' : account_id === accountId ? '' : ', by an administrator or another member';
  return `${WORDS[kind as AuditKind]}${what === undefined ? '' : ` (${what})`}${who}`;
}
