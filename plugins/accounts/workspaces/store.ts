import type { Reader, Tx } from 'civic';
import type { WorkspaceRole } from '../types.ts';

export interface WorkspaceRow {
  key: number;
  id: string;
  name: string;
  personal_of: number | null;
  created_at: string;
}

export interface MembershipRow extends WorkspaceRow {
  role: WorkspaceRole;
}

export interface MemberRow {
  account_key: number;
  account_id: string;
  name: string;
  role: WorkspaceRole;
  since: string;
}

export async function insertWorkspace(tx: Tx, workspace: Omit<WorkspaceRow, 'key'>): Promise<number> {
  const [row] = (await tx('accounts_workspaces').insert(workspace).returning('key')) as { key: number }[];
  return Number(row!.key);
}

export async function workspaceByKey(reader: Reader, key: number): Promise<WorkspaceRow> {
  return (await reader('accounts_workspaces').where({ key }).first()) as WorkspaceRow;
}

/** Whoever changes members waits for whoever does so already, and sees what came of it. */
export async function lockWorkspace(tx: Tx, id: string): Promise<void> {
  await tx('accounts_workspaces').where({ id }).forNoKeyUpdate().first('key');
}

/** The workspaces somebody belongs to, with their role in each; their personal one first. */
export async function membershipsOf(reader: Reader, accountKey: number): Promise<(MembershipRow & { since: string })[]> {
  return reader('accounts_members').join('accounts_workspaces', 'accounts_workspaces.key', 'accounts_members.workspace_key')
    .where({ account_key: accountKey }).select('accounts_workspaces.*', 'accounts_members.role', 'accounts_members.since')
    .orderByRaw('case when personal_of is null then 1 else 0 end').orderBy('accounts_workspaces.key');
}

/** A workspace as one of its members knows it. */
export async function membershipIn(reader: Reader, accountId: string, workspaceId: string): Promise<(MembershipRow & { account_key: number }) | null> {
  const row = await reader('accounts_members').join('accounts_workspaces', 'accounts_workspaces.key', 'accounts_members.workspace_key').join('accounts_people', 'accounts_people.key', 'accounts_members.account_key')
    .where({ 'accounts_people.id': accountId, 'accounts_workspaces.id': workspaceId }).first('accounts_workspaces.*', 'accounts_members.role', 'accounts_members.account_key');
  return (row as (MembershipRow & { account_key: number }) | undefined) ?? null;
}

export async function insertMember(tx: Tx, member: { workspace_key: number; account_key: number; role: WorkspaceRole; since: string }): Promise<void> {
  await tx('accounts_members').insert(member);
}

export async function membersOf(reader: Reader, workspaceKey: number): Promise<MemberRow[]> {
  return reader('accounts_members').join('accounts_people', 'accounts_people.key', 'accounts_members.account_key').where({ workspace_key: workspaceKey })
    .select('accounts_members.account_key', 'accounts_people.id as account_id', 'accounts_people.name', 'accounts_members.role', 'accounts_members.since').orderBy(['since', 'accounts_members.account_key']);
}

export async function changeMember(tx: Tx, workspaceKey: number, accountKey: number, role: WorkspaceRole): Promise<void> {
  await tx('accounts_members').where({ workspace_key: workspaceKey, account_key: accountKey }).update({ role });
}

export async function deleteMember(tx: Tx, workspaceKey: number, accountKey: number): Promise<void> {
  await tx('accounts_members').where({ workspace_key: workspaceKey, account_key: accountKey }).delete();
}

export async function renameWorkspace(tx: Tx, key: number, name: string): Promise<void> {
  await tx('accounts_workspaces').where({ key }).update({ name });
}

/** The row stays for keys and the audit record, without its name. */
export async function markDeleted(tx: Tx, key: number, at: string): Promise<void> {
  await tx('accounts_workspaces').where({ key }).update({ name: '', deleted_at: at });
}

export async function deleteMembers(tx: Tx, workspaceKey: number): Promise<void> {
  await tx('accounts_members').where({ workspace_key: workspaceKey }).delete();
}

export async function deleteInvitationsTo(tx: Tx, workspaceKey: number): Promise<void> {
  await tx('accounts_invitations').where({ workspace_key: workspaceKey }).delete();
}

/** Sessions in which the workspace was chosen work in the personal one again. */
export async function leaveSessions(tx: Tx, workspaceKey: number): Promise<void> {
  await tx('accounts_sessions').where({ workspace_key: workspaceKey }).update({ workspace_key: null });
}
