import { newId, problem, type Civic, type Tx } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { hashOf, newSecret } from '../secrets.ts';
import type { Doer, WorkspaceRole } from '../types.ts';
import { deleteInvitation, insertInvitation, invitationByHash, useInvitation } from './invitations-store.ts';
import { lockWorkspace, workspaceByKey, type WorkspaceRow } from './store.ts';
import { addMember, checkMayGive, checkShared, type Membership, type WorkspaceContext } from './workspaces.ts';

export interface InvitationContext extends WorkspaceContext {
  config: AccountsConfig;
  url: Civic['url'];
}

export interface Invitation {
  id: string;
  role: WorkspaceRole;
  created_by: string;
  created_at: string;
  expires_at: string;
  /** Holds the secret: shown once, never kept. */
  url: string;
}

export const INVITATION_PATH = '/invitations';

/** A link that lets one person into a workspace. */
export async function invite({ clock, config, record, url }: InvitationContext, tx: Tx, own: Membership, role: WorkspaceRole, by: Doer): Promise<Invitation> {
  checkShared(own);
  checkMayGive(own.role, role);
  const secret = newSecret();
  const row = { id: newId(clock.now()), role, created_at: clock.iso(), expires_at: new Date(clock.now() + config.invitation_days * 86_400_000).toISOString() };
  await insertInvitation(tx, { ...row, workspace_key: own.key, secret_hash: hashOf(secret), created_by: own.account_key, used_at: null });
  await record(tx, { kind: 'invitation_made', by, subject: row.id, workspace_id: own.id, detail: { role, expires_at: row.expires_at } });
  return { ...row, created_by: by.account_id!, url: `${url(INVITATION_PATH)}?token=${secret}` };
}

/** Lets an account in that has the link. */
export async function acceptInvitation(context: InvitationContext, tx: Tx, account: { key: number; id: string }, secret: string, by: Doer): Promise<WorkspaceRow & { role: WorkspaceRole }> {
  const { clock } = context;
  const found = await invitationByHash(tx, hashOf(secret));
  if (!found || found.used_at !== null || Date.parse(found.expires_at) <= clock.now()) throw problem('unknown_invitation');
  const workspace = await workspaceByKey(tx, found.workspace_key);
  await lockWorkspace(tx, workspace.id);
  if (!await useInvitation(tx, found.id, clock.iso())) throw problem('unknown_invitation');
  await addMember(context, tx, workspace, account, found.role, by);
  return { ...workspace, role: found.role };
}

export async function withdrawInvitation({ record }: InvitationContext, tx: Tx, own: Membership, id: string, by: Doer): Promise<void> {
  if (!await deleteInvitation(tx, own.key, id)) throw problem('unknown_invitation');
  await record(tx, { kind: 'invitation_removed', by, subject: id, workspace_id: own.id });
}
