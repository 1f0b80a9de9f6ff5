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

export async function insertWorkspace(tx: Tx, workspace: Omit<WorkspaceRow, 'key'>): Promise<number> {
  const [row] = (await tx('accounts_workspaces').insert(workspace).returning('key')) as { key: number }[];
  return Number(row!.key);
}

export async function insertMember(tx: Tx, member: { workspace_key: number; account_key: number; role: WorkspaceRole; since: string }): Promise<void> {
  await tx('accounts_members').insert(member);
}

/** The workspaces somebody belongs to, with their role in each; their personal one first. */
export async function membershipsOf(reader: Reader, accountKey: number): Promise<MembershipRow[]> {
  return reader('accounts_members').join('accounts_workspaces', 'accounts_workspaces.key', 'accounts_members.workspace_key')
    .where({ account_key: accountKey }).select('accounts_workspaces.*', 'accounts_members.role')
    .orderByRaw('case when personal_of is null then 1 else 0 end').orderBy('accounts_workspaces.key');
}
