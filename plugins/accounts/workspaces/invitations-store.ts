import type { Reader, Tx } from 'civic';
import type { WorkspaceRole } from '../types.ts';

export interface InvitationRow {
  id: string;
  workspace_key: number;
  role: WorkspaceRole;
  secret_hash: string;
  created_by: number;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

export interface OpenInvitationRow {
  id: string;
  role: WorkspaceRole;
  created_by: string;
  created_at: string;
  expires_at: string;
}

export async function insertInvitation(tx: Tx, invitation: InvitationRow): Promise<void> {
  await tx('accounts_invitations').insert(invitation);
}

/** Those that can still be used. */
export async function openInvitations(reader: Reader, workspaceKey: number, now: string): Promise<OpenInvitationRow[]> {
  return reader('accounts_invitations').join('accounts_people', 'accounts_people.key', 'accounts_invitations.created_by')
    .where({ workspace_key: workspaceKey, used_at: null }).where('expires_at', '>', now)
    .select('accounts_invitations.id', 'accounts_invitations.role', 'accounts_people.id as created_by', 'accounts_invitations.created_at', 'accounts_invitations.expires_at').orderBy('accounts_invitations.key');
}

export async function invitationByHash(reader: Reader, secretHash: string): Promise<InvitationRow | null> {
  return ((await reader('accounts_invitations').where({ secret_hash: secretHash }).first()) as InvitationRow | undefined) ?? null;
}

/** False when somebody else was faster. */
export async function useInvitation(tx: Tx, id: string, at: string): Promise<boolean> {
  return await tx('accounts_invitations').where({ id, used_at: null }).update({ used_at: at }) === 1;
}

/** Those that somebody made and nobody used: in one workspace for these roles, or all; answers their ids. */
export async function deleteInvitationsBy(tx: Tx, accountKey: number, inside?: { workspace_key: number; roles: WorkspaceRole[] }): Promise<string[]> {
  const open = tx('accounts_invitations').where({ created_by: accountKey, used_at: null });
  const ids = await (inside ? open.where({ workspace_key: inside.workspace_key }).whereIn('role', inside.roles) : open).pluck('id') as string[];
  if (ids.length > 0) await tx('accounts_invitations').whereIn('id', ids).where({ used_at: null }).delete();
  return ids;
}

export async function deleteInvitation(tx: Tx, workspaceKey: number, id: string): Promise<boolean> {
  return await tx('accounts_invitations').where({ workspace_key: workspaceKey, id, used_at: null }).delete() === 1;
}
