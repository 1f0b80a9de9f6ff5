import type { ServerRoute } from '@hapi/hapi';
import { isId, Joi, problem } from 'civic';
import { callerOf, doerOf, reading, writing } from '../access.ts';
import { personById } from '../people/store.ts';
import type { Accounts } from '../service.ts';
import type { WorkspaceRole } from '../types.ts';
import { idIn, whole } from './routes.ts';
import { member, memberChange, newMember, wholeList } from './schemas.ts';
import { openInvitations, type OpenInvitationRow } from './invitations-store.ts';
import { inviteAccount } from './invitations.ts';
import { membersOf, type MemberRow } from './store.ts';
import { canManage, memberById, removeMember, setMemberRole, workspaceFor, workspaceToChange } from './workspaces.ts';

const noQuery = Joi.object({});
const params = Joi.object({ id: Joi.string() });
const memberParams = Joi.object({ id: Joi.string(), account_id: Joi.string() });
const activeMember = ({ account_id, name, role, since }: MemberRow) => ({ account_id, name, email: null, role, since, status: 'active', invitation_id: null });
const pendingMember = ({ id, account_id, email, role, created_at }: Omit<OpenInvitationRow, 'created_by'>) => ({ account_id, name: null, email, role, since: created_at, status: 'pending', invitation_id: id });

/** Who belongs to a workspace, and as what. */
export function memberRoutes(accounts: Accounts): ServerRoute[] {
  const { civic, workspaces, workspaceHooks } = accounts;
  return [
    {
      method: 'GET',
      path: '/api/workspaces/{id}/members',
      options: {
        description: 'The members of a workspace you belong to; for owners and administrators also the accounts that are invited',
        notes: 'The longest members first. Roles in a workspace are independent of the role on the instance.',
        auth: reading,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_workspace'] } },
        response: { schema: wholeList(member, 'MemberList') },
      },
      async handler(request) {
        const { key, role } = await workspaceFor(civic.db.read, callerOf(request), idIn(request));
        const invited = canManage(role) ? await openInvitations(civic.db.read, key, civic.clock.iso()) : [];
        const pending = invited.filter(({ account_id, email }) => account_id !== null || email !== null).map(pendingMember);
        return whole([...(await membersOf(civic.db.read, key)).map(activeMember), ...pending]);
      },
    },
    {
      method: 'GET',
      path: '/api/workspaces/{id}/members/{account_id}',
      options: {
        description: 'One member of a workspace you belong to',
        notes: '`since` is when the account became a member. An account that is not a member is 404.',
        auth: reading,
        validate: { query: noQuery, params: memberParams },
        plugins: { civic: { problems: ['unknown_workspace', 'unknown_member'] } },
        response: { schema: member },
      },
      async handler(request) {
        const { key } = await workspaceFor(civic.db.read, callerOf(request), idIn(request));
        return activeMember(await memberById(civic.db.read, key, String(request.params.account_id)));
      },
    },
    {
      method: 'POST',
      path: '/api/workspaces/{id}/members',
      options: {
        description: 'Invite an account by its id or e-mail address; it is a member once it accepts',
        notes: 'For owners and administrators. Until the account accepts, the member is `pending` and has no access.',
        auth: writing,
        validate: { query: noQuery, params, payload: newMember },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden', 'unknown_member', 'already_member', 'already_invited', 'invitation_limit', 'personal_workspace'] } },
        response: { status: { 201: member } },
      },
      async handler(request, h) {
        const { account_id, email, role } = request.payload as { account_id?: string; email: string; role: WorkspaceRole };
        const invited = await civic.db.write(async (tx) => {
          const own = await workspaceToChange(tx, callerOf(request), idIn(request), 'admin');
          if (account_id === undefined) return inviteAccount(workspaces, tx, own, { email }, role, doerOf(request));
          const person = isId(account_id) ? await personById(tx, account_id) : null;
          if (!person || person.disabled_at !== null) throw problem('unknown_member', { detail: 'No account has this id.' });
          return inviteAccount(workspaces, tx, own, { account: person }, role, doerOf(request));
        });
        return h.response(pendingMember(invited)).code(201);
      },
    },
    {
      method: 'PATCH',
      path: '/api/workspaces/{id}/members/{account_id}',
      options: {
        description: 'Change the role of a member',
        notes: 'For owners and administrators. One owner always remains.',
        auth: writing,
        validate: { query: noQuery, params: memberParams, payload: memberChange },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden', 'unknown_member', 'last_owner', 'personal_workspace'] } },
        response: { schema: member },
      },
      handler: (request) => civic.db.write(async (tx) => {
        const accountId = String(request.params.account_id);
        const own = await workspaceToChange(tx, callerOf(request), idIn(request), 'admin');
        await setMemberRole(workspaces, tx, own, accountId, (request.payload as { role: WorkspaceRole }).role, doerOf(request));
        return activeMember(await memberById(tx, own.key, accountId));
      }),
    },
    {
      method: 'DELETE',
      path: '/api/workspaces/{id}/members/{account_id}',
      options: {
        description: 'Remove a member from a workspace, or leave it',
        notes: 'Owners and administrators remove others; all members can remove themselves, except the last owner. Open streams of the member end.',
        auth: writing,
        validate: { query: noQuery, params: memberParams },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden', 'unknown_member', 'last_owner', 'personal_workspace'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await civic.db.write(async (tx) => removeMember(workspaces, workspaceHooks, tx, await workspaceToChange(tx, callerOf(request), idIn(request)), String(request.params.account_id), doerOf(request)));
        return h.response().code(204);
      },
    },
  ];
}
