import { isId, newId, problem, type Civic, type Reader, type Tx } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { foldEmail } from '../people/people.ts';
import type { PersonRow } from '../people/store.ts';
import { hashOf, newSecret } from '../secrets.ts';
import type { Doer, WorkspaceRole } from '../types.ts';
import { deleteInvitation, insertInvitation, invitationByHash, invitationById, openInvitations, useInvitation, type Addressee, type InvitationRow } from './invitations-store.ts';
import { INVITATION_MAIL } from './mail.ts';
import { lockWorkspace, membersOf, workspaceByKey, type WorkspaceRow } from './store.ts';
import { addMember, checkMayGive, checkShared, type Membership, type WorkspaceContext } from './workspaces.ts';

export interface InvitationContext extends WorkspaceContext {
  config: AccountsConfig;
  url: Civic['url'];
  jobs: Civic['jobs'];
}

export interface Invitation {
  id: string;
  role: WorkspaceRole;
  account_id: string | null;
  email: string | null;
  created_by: string;
  created_at: string;
  expires_at: string;
}

/** Who is invited: an account by id, or whichever account has the e-mail address, now or later. */
export type Invited = { account: PersonRow } | { email: string };

export const INVITATION_PATH = '/invitations';

const BEARER: Addressee = { account_key: null, email: null, email_folded: null };

/** Creates a link that lets one person into a workspace. The URL holds the secret: it is shown once and not stored. */
export async function invite(context: InvitationContext, tx: Tx, own: Membership, role: WorkspaceRole, by: Doer): Promise<Invitation & { url: string }> {
  const secret = newSecret();
  const made = await createInvitation(context, tx, own, { role, addressee: BEARER, secret }, by);
  return { ...made, account_id: null, url: `${context.url(INVITATION_PATH)}?token=${secret}` };
}

/**
 * Invites an account, which has no access until it accepts. With an e-mail address the result is the same whether
 * an account has it or not.
 */
export async function inviteAccount(context: InvitationContext, tx: Tx, own: Membership, invited: Invited, role: WorkspaceRole, by: Doer): Promise<Invitation> {
  checkShared(own);
  const addressee = 'email' in invited ? { ...BEARER, email: invited.email, email_folded: foldEmail(invited.email) } : { ...BEARER, account_key: invited.account.key };
  if ((await membersOf(tx, own.key)).some(({ account_key }) => account_key === addressee.account_key)) throw problem('already_member');
  const accountId = 'account' in invited ? invited.account.id : null;
  const isOpen = (await openInvitations(tx, own.key, context.clock.iso())).some(({ account_id, email }) => (account_id !== null && account_id === accountId) || (email !== null && foldEmail(email) === addressee.email_folded));
  if (isOpen) throw problem('already_invited');
  const made = await createInvitation(context, tx, own, { role, addressee, secret: newSecret() }, by);
  if (context.config.mail.smtp_url !== null) await context.jobs.enqueue(tx, INVITATION_MAIL, { invitation_id: made.id, language: by.language ?? 'en' });
  return { ...made, account_id: accountId };
}

interface NewInvitation {
  role: WorkspaceRole;
  addressee: Addressee;
  secret: string;
}

async function createInvitation({ clock, config, record }: InvitationContext, tx: Tx, own: Membership, { role, addressee, secret }: NewInvitation, by: Doer): Promise<Omit<Invitation, 'account_id'>> {
  checkShared(own);
  checkMayGive(own.role, role);
  const most = config.max_invitations_per_workspace;
  if ((await openInvitations(tx, own.key, clock.iso())).length >= most) throw problem('invitation_limit', { detail: `The workspace has ${most} open invitations, which is the most this instance allows.` });
  const row = { id: newId(clock.now()), role, created_at: clock.iso(), expires_at: new Date(clock.now() + config.invitation_days * 86_400_000).toISOString() };
  await insertInvitation(tx, { ...row, ...addressee, workspace_key: own.key, secret_hash: hashOf(secret), created_by: own.account_key, used_at: null });
  await record(tx, { kind: 'invitation_made', by, subject: row.id, workspace_id: own.id, detail: { role, expires_at: row.expires_at } });
  return { ...row, email: addressee.email, created_by: by.account_id! };
}

type Joined = WorkspaceRow & { role: WorkspaceRole };

/** Adds the account that has the link to the workspace. */
export async function acceptInvitation(context: InvitationContext, tx: Tx, account: PersonRow, secret: string, by: Doer): Promise<Joined> {
  return join(context, tx, account, await invitationByHash(tx, hashOf(secret)), by);
}

/** Adds an account to the workspace that invited it. */
export async function acceptReceived(context: InvitationContext, tx: Tx, account: PersonRow, id: string, by: Doer): Promise<Joined> {
  return join(context, tx, account, await received(tx, account, id), by);
}

export async function declineReceived({ record, clock }: InvitationContext, tx: Tx, account: PersonRow, id: string, by: Doer): Promise<void> {
  const found = await received(tx, account, id);
  if (Date.parse(found.expires_at) <= clock.now() || !await deleteInvitation(tx, found.workspace_key, found.id)) throw problem('unknown_invitation');
  const workspace = await workspaceByKey(tx, found.workspace_key);
  await record(tx, { kind: 'invitation_declined', by, subject: found.id, workspace_id: workspace.id });
}

async function received(reader: Reader, account: PersonRow, id: string): Promise<InvitationRow> {
  const found = isId(id) ? await invitationById(reader, id.toLowerCase()) : null;
  const isTheirs = found && (found.account_key === account.key || (found.email_folded !== null && found.email_folded === account.email_folded));
  if (!isTheirs) throw problem('unknown_invitation', { detail: 'Your account has no such invitation.' });
  return found;
}

async function join(context: InvitationContext, tx: Tx, account: PersonRow, found: InvitationRow | null, by: Doer): Promise<Joined> {
  const { clock } = context;
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
