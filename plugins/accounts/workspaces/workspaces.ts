import { isId, newId, problem, type Caller, type Civic, type Reader, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import type { AccessChanged } from '../events.ts';
import { lockedPerson } from '../people/store.ts';
import { WORKSPACE_ROLES, type Doer, type WorkspaceRole } from '../types.ts';
import type { WorkspaceHooks } from './hooks.ts';
import { deleteInvitationsBy } from './invitations-store.ts';
import { changeMember, deleteMember, insertMember, insertWorkspace, lockWorkspace, membershipIn, membershipsOf, membersOf, type MemberRow, type MembershipRow, type WorkspaceRow } from './store.ts';

export interface WorkspaceContext {
  clock: Civic['clock'];
  config: AccountsConfig;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
}

export interface NewWorkspace {
  name: string;
  owner: { key: number; id: string };
  isPersonal: boolean;
}

/** Who acts in a workspace, and what they are there. */
export type Membership = MembershipRow & { account_key: number };

const RANK: Record<WorkspaceRole, number> = { member: 0, reviewer: 1, admin: 2, owner: 3 };

/** Creates a workspace with its owner in it. */
export async function createWorkspace({ clock, config, record, accessChanged }: WorkspaceContext, tx: Tx, { name, owner, isPersonal }: NewWorkspace, by: Doer): Promise<WorkspaceRow> {
  if (!isPersonal) await checkMemberships(tx, owner.key, config);
  const row = { id: newId(clock.now()), name, personal_of: isPersonal ? owner.key : null, created_at: clock.iso() };
  const key = await insertWorkspace(tx, row);
  await insertMember(tx, { workspace_key: key, account_key: owner.key, role: 'owner', since: clock.iso() });
  await record(tx, { kind: 'workspace_made', by, subject: owner.id, workspace_id: row.id, detail: { personal: isPersonal } });
  await accessChanged(tx, { account_id: owner.id, what: 'membership' });
  return { key, ...row };
}

/** Who asks for a workspace. */
export type WorkspaceCaller = Pick<Caller, 'account_id' | 'via' | 'workspace_id'>;

/** Returns the id of a path in its stored form. Throws `unknown_workspace` for a text that is no id. */
export function checkedId(given: string): string {
  if (!isId(given)) throw problem('unknown_workspace', { detail: 'This is not the id of a workspace.' });
  return given.toLowerCase();
}

/** A workspace for one of its members; for everybody else there is none. A token speaks for one workspace only. */
export async function workspaceFor(reader: Reader, caller: WorkspaceCaller, workspaceId: string, least: WorkspaceRole = 'member'): Promise<Membership> {
  const id = workspaceId.toLowerCase();
  const found = caller.via === 'token' && caller.workspace_id !== id ? null : await membershipIn(reader, caller.account_id, id);
  if (!found) throw problem('unknown_workspace', { detail: `You belong to no workspace with the id ${workspaceId.slice(0, 100)}.` });
  checkRank(found.role, least);
  return found;
}

/** The same for changing who belongs to it: nobody else does meanwhile, and who was taken out a moment ago finds nothing. */
export async function workspaceToChange(tx: Tx, caller: WorkspaceCaller, workspaceId: string, least?: WorkspaceRole): Promise<Membership> {
  await lockWorkspace(tx, workspaceId.toLowerCase());
  return workspaceFor(tx, caller, workspaceId, least);
}

function checkRank(role: WorkspaceRole, least: WorkspaceRole): void {
  if (RANK[role] < RANK[least]) throw problem('workspace_forbidden', { detail: `This needs the role ${least} in the workspace; yours is ${role}.` });
}

/** Whether a role manages members and sees invitations. */
export function canManage(role: WorkspaceRole): boolean {
  return RANK[role] >= RANK.admin;
}

/** A personal workspace stays with whom it belongs to. */
export function checkShared({ personal_of }: WorkspaceRow): void {
  if (personal_of !== null) throw problem('personal_workspace');
}

/** Nobody gives away more than they have. */
export function checkMayGive(own: WorkspaceRole, role: WorkspaceRole): void {
  if (RANK[role] > RANK[own]) throw problem('workspace_forbidden', { detail: `Only an ${role} can make somebody ${role}.` });
}

export async function memberById(reader: Reader, workspaceKey: number, accountId: string): Promise<MemberRow> {
  const found = (await membersOf(reader, workspaceKey)).find(({ account_id }) => account_id === accountId.toLowerCase());
  if (!found) throw problem('unknown_member', { detail: `The workspace has no member with the id ${accountId.slice(0, 100)}.` });
  return found;
}

/** Adds an account that accepted an invitation. The caller holds the lock of the workspace. */
export async function addMember({ clock, config, record, accessChanged }: WorkspaceContext, tx: Tx, workspace: WorkspaceRow, account: { key: number; id: string }, role: WorkspaceRole, by: Doer): Promise<void> {
  checkShared(workspace);
  const members = await membersOf(tx, workspace.key);
  if (members.some(({ account_key }) => account_key === account.key)) throw problem('already_member');
  const most = config.max_members_per_workspace;
  if (members.length >= most) throw problem('member_limit', { detail: `The workspace has ${most} members, which is the most this instance allows.` });
  await checkMemberships(tx, account.key, config);
  await insertMember(tx, { workspace_key: workspace.key, account_key: account.key, role, since: clock.iso() });
  await record(tx, { kind: 'member_added', by, subject: account.id, workspace_id: workspace.id, detail: { role } });
  await accessChanged(tx, { account_id: account.id, what: 'membership' });
}

/** Locks the account, so that two workspaces joined at once are counted one after the other. */
async function checkMemberships(tx: Tx, accountKey: number, { max_memberships_per_account: most }: AccountsConfig): Promise<void> {
  await lockedPerson(tx, accountKey);
  if ((await membershipsOf(tx, accountKey)).length >= most) throw problem('membership_limit', { detail: `The account belongs to ${most} workspaces, which is the most this instance allows.` });
}

/** Gives a member another role, as somebody who has no lower one than either. */
export async function setMemberRole({ record, accessChanged }: WorkspaceContext, tx: Tx, own: Membership, accountId: string, role: WorkspaceRole, by: Doer): Promise<void> {
  checkShared(own);
  const member = await memberById(tx, own.key, accountId);
  checkMayGive(own.role, role);
  checkMayGive(own.role, member.role);
  if (role !== 'owner') await checkOwnerLeft(tx, own.key, member);
  await changeMember(tx, own.key, member.account_key, role);
  await record(tx, { kind: 'member_changed', by, subject: member.account_id, workspace_id: own.id, detail: { from: member.role, to: role } });
  await endInvitations(record, tx, own, member, role, by);
  await accessChanged(tx, { account_id: member.account_id, what: 'membership' });
}

/** Takes a member out; everybody may leave by themselves. */
export async function removeMember({ record, accessChanged }: WorkspaceContext, hooks: Pick<WorkspaceHooks, 'forgetMember'>, tx: Tx, own: Membership, accountId: string, by: Doer): Promise<void> {
  checkShared(own);
  const member = await memberById(tx, own.key, accountId);
  if (member.account_key !== own.account_key) {
    checkRank(own.role, 'admin');
    checkMayGive(own.role, member.role);
  }
  await checkOwnerLeft(tx, own.key, member);
  await deleteMember(tx, own.key, member.account_key);
  await hooks.forgetMember(tx, own.id, member.account_id);
  await record(tx, { kind: 'member_removed', by, subject: member.account_id, workspace_id: own.id, detail: { role: member.role } });
  await endInvitations(record, tx, own, member, null, by);
  await accessChanged(tx, { account_id: member.account_id, what: 'membership' });
}

/** Links they made and could no longer make end with it, or they would come back by one as what they were. */
async function endInvitations(record: WorkspaceContext['record'], tx: Tx, { key, id }: WorkspaceRow, member: MemberRow, role: WorkspaceRole | null, by: Doer): Promise<void> {
  const roles = WORKSPACE_ROLES.filter((given) => role === null || RANK[role] < RANK.admin || RANK[given] > RANK[role]);
  for (const ended of await deleteInvitationsBy(tx, member.account_key, { workspace_key: key, roles })) {
    await record(tx, { kind: 'invitation_removed', by, subject: ended, workspace_id: id });
  }
}

async function checkOwnerLeft(tx: Tx, workspaceKey: number, leaving: MemberRow): Promise<void> {
  const others = (await membersOf(tx, workspaceKey)).filter(({ role, account_key }) => role === 'owner' && account_key !== leaving.account_key);
  if (leaving.role === 'owner' && others.length === 0) throw problem('last_owner');
}
