import type { Reader, Tx } from 'civic';
import type { WorkspaceRole } from '../types.ts';

/** Whom an invitation is for. With neither it is for the bearer of its link. */
export interface Addressee {
  account_key: number | null;
  email: string | null;
  email_folded: string | null;
}

export interface InvitationRow extends Addressee {
  id: string;
  workspace_key: number;
  role: WorkspaceRole;
  secret_hash: string;
  created_by: number;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

/** An open invitation as administrators of the workspace see it. */
export interface OpenInvitationRow {
  id: string;
  role: WorkspaceRole;
  account_id: string | null;
  email: string | null;
  created_by: string;
  created_at: string;
  expires_at: string;
}

/** An open invitation as the invited account sees it. */
export interface ReceivedInvitationRow {
  id: string;
  workspace_id: string;
  workspace_name: string;
  role: WorkspaceRole;
  invited_by: string;
  created_at: string;
  expires_at: string;
}

/** The oldest ones; the rest is shown once these are accepted or declined. */
const MOST_RECEIVED = 50;

export async function insertInvitation(tx: Tx, invitation: InvitationRow): Promise<void> {
  await tx('accounts_invitations').insert(invitation);
}

export async function openInvitations(reader: Reader, workspaceKey: number, now: string): Promise<OpenInvitationRow[]> {
  return reader('accounts_invitations as invitation').join('accounts_people as maker', 'maker.key', 'invitation.created_by').leftJoin('accounts_people as invited', 'invited.key', 'invitation.account_key')
    .where({ workspace_key: workspaceKey, used_at: null }).where('expires_at', '>', now)
    .select('invitation.id', 'invitation.role', 'invited.id as account_id', 'invitation.email', 'maker.id as created_by', 'invitation.created_at', 'invitation.expires_at').orderBy('invitation.key');
}

export async function invitationByHash(reader: Reader, secretHash: string): Promise<InvitationRow | null> {
  return ((await reader('accounts_invitations').where({ secret_hash: secretHash }).first()) as InvitationRow | undefined) ?? null;
}

export async function invitationById(reader: Reader, id: string): Promise<InvitationRow | null> {
  return ((await reader('accounts_invitations').where({ id }).first()) as InvitationRow | undefined) ?? null;
}

/** The open invitations of an account to workspaces that it does not belong to. */
export async function receivedInvitations(reader: Reader, account: { key: number; email_folded: string | null }, now: string): Promise<ReceivedInvitationRow[]> {
  return reader('accounts_invitations as invitation').join('accounts_workspaces as workspace', 'workspace.key', 'invitation.workspace_key').join('accounts_people as maker', 'maker.key', 'invitation.created_by')
    .where({ used_at: null }).where('expires_at', '>', now)
    .where((either) => { either.where({ account_key: account.key }); if (account.email_folded !== null) either.orWhere('invitation.email_folded', account.email_folded); })
    .whereNotIn('invitation.workspace_key', reader('accounts_members').where({ account_key: account.key }).select('workspace_key'))
    .select('invitation.id', 'workspace.id as workspace_id', 'workspace.name as workspace_name', 'invitation.role', 'maker.name as invited_by', 'invitation.created_at', 'invitation.expires_at')
    .orderBy('invitation.key').limit(MOST_RECEIVED);
}

/** False when another request used it first. */
export async function useInvitation(tx: Tx, id: string, at: string): Promise<boolean> {
  return await tx('accounts_invitations').where({ id, used_at: null }).update({ used_at: at }) === 1;
}

/** Deletes the unused invitations of an account: in one workspace for these roles, or all. Returns their ids. */
export async function deleteInvitationsBy(tx: Tx, accountKey: number, inside?: { workspace_key: number; roles: WorkspaceRole[] }): Promise<string[]> {
  const open = tx('accounts_invitations').where({ created_by: accountKey, used_at: null });
  const ids = await (inside ? open.where({ workspace_key: inside.workspace_key }).whereIn('role', inside.roles) : open).pluck('id') as string[];
  if (ids.length > 0) await tx('accounts_invitations').whereIn('id', ids).where({ used_at: null }).delete();
  return ids;
}

export async function deleteInvitation(tx: Tx, workspaceKey: number, id: string): Promise<boolean> {
  return await tx('accounts_invitations').where({ workspace_key: workspaceKey, id, used_at: null }).delete() === 1;
}

export async function pruneInvitations(tx: Tx, before: string): Promise<void> {
  await tx('accounts_invitations').where('expires_at', '<', before).delete();
}
