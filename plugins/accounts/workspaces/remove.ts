import { problem, type Tx } from 'civic';
import { markRevoked, usableKeysOf } from '../keys/store.ts';
import type { Doer } from '../types.ts';
import type { WorkspaceHooks } from './hooks.ts';
import { deleteInvitationsTo, leaveSessions, deleteMembers, markDeleted, membersOf, renameWorkspace } from './store.ts';
import { checkShared, type Membership, type WorkspaceContext } from './workspaces.ts';

/** Renames a workspace. The caller holds its lock. */
export async function setWorkspaceName({ record }: WorkspaceContext, tx: Tx, own: Membership, name: string, by: Doer): Promise<void> {
  if (name === own.name) return;
  await renameWorkspace(tx, own.key, name);
  await record(tx, { kind: 'workspace_renamed', by, workspace_id: own.id, detail: { from: own.name, to: name } });
}

/**
 * Deletes a workspace with everything in it: other plugins delete their records in the same transaction, keys are revoked, and tokens and
 * streams end because nobody is a member any more. The caller holds its lock.
 */
export async function deleteWorkspace({ clock, record, accessChanged }: WorkspaceContext, hooks: Pick<WorkspaceHooks, 'forget'>, tx: Tx, own: Membership, typedName: string, by: Doer): Promise<void> {
  checkShared(own);
  if (typedName.trim() !== own.name) throw problem('name_mismatch', { detail: `The name of the workspace is "${own.name}".` });
  const at = clock.iso();
  await hooks.forget(tx, own.id);
  for (const { key, id, account_id } of await usableKeysOf(tx, own.key)) {
    await markRevoked(tx, key, at);
    await record(tx, { kind: 'key_revoked', by, subject: id, workspace_id: own.id });
    await accessChanged(tx, { account_id, what: 'key_revoked', key_id: id });
  }
  const members = await membersOf(tx, own.key);
  await deleteInvitationsTo(tx, own.key);
  await leaveSessions(tx, own.key);
  await deleteMembers(tx, own.key);
  await markDeleted(tx, own.key, at);
  await record(tx, { kind: 'workspace_deleted', by, workspace_id: own.id, detail: { members: members.length } });
  for (const { account_id } of members) await accessChanged(tx, { account_id, what: 'membership' });
}
