import type { ServerRoute } from '@hapi/hapi';
import { isId, Joi, problem } from 'civic';
import { accountCallerOf, callerOf, doerOf, reading, writing } from '../access.ts';
import { personById } from '../people/store.ts';
import { workspaceRecord, type Accounts } from '../service.ts';
import type { WorkspaceRole } from '../types.ts';
import { acceptInvitation, invite, withdrawInvitation } from './invitations.ts';
import { openInvitations } from './invitations-store.ts';
import { idIn, whole } from './routes.ts';
import { invitation, joining, createdInvitation, newInvitation, wholeList, workspace } from './schemas.ts';
import { workspaceFor, workspaceToChange } from './workspaces.ts';

const noQuery = Joi.object({});
const params = Joi.object({ id: Joi.string() });

/** Links that let others into a workspace. */
export function invitationRoutes({ civic, workspaces }: Accounts): ServerRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/workspaces/{id}/invitations',
      options: {
        description: 'Invitations that are neither accepted nor expired; for owners and administrators',
        notes: 'Without the links themselves: each is shown once, when it is created.',
        auth: reading,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden'] } },
        response: { schema: wholeList(invitation, 'InvitationList') },
      },
      async handler(request) {
        const { key } = await workspaceFor(civic.db.read, callerOf(request), idIn(request), 'admin');
        return whole(await openInvitations(civic.db.read, key, civic.clock.iso()));
      },
    },
    {
      method: 'POST',
      path: '/api/workspaces/{id}/invitations',
      options: {
        description: 'Create a link that lets one person in',
        notes: 'The link is shown this once and expires. Repeating the request with the same `Idempotency-Key` is 409 `secret_shown_once`.',
        auth: writing,
        validate: { query: noQuery, params, payload: newInvitation },
        plugins: { civic: { secret: true, problems: ['unknown_workspace', 'workspace_forbidden', 'personal_workspace', 'invitation_limit'] } },
        response: { status: { 201: createdInvitation } },
      },
      async handler(request, h) {
        const { role } = request.payload as { role: WorkspaceRole };
        const made = await civic.db.write(async (tx) => invite(workspaces, tx, await workspaceToChange(tx, callerOf(request), idIn(request), 'admin'), role, doerOf(request)));
        return h.response(made).code(201).header('cache-control', 'no-store');
      },
    },
    {
      method: 'DELETE',
      path: '/api/workspaces/{id}/invitations/{invitation_id}',
      options: {
        description: 'Withdraw an invitation',
        notes: 'Its link no longer works. An invitation that was accepted is 404: remove the member instead.',
        auth: writing,
        validate: { query: noQuery, params: Joi.object({ id: Joi.string(), invitation_id: Joi.string() }) },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden', 'unknown_invitation'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        const id = String(request.params.invitation_id).toLowerCase();
        await civic.db.write(async (tx) => {
          const own = await workspaceToChange(tx, callerOf(request), idIn(request), 'admin');
          if (!isId(id)) throw problem('unknown_invitation');
          await withdrawInvitation(workspaces, tx, own, id, doerOf(request));
        });
        return h.response().code(204);
      },
    },
    {
      method: 'POST',
      path: '/api/workspaces/join',
      options: {
        description: 'Join a workspace with the token of an invitation link',
        notes: 'The token is what follows `token=` in the link. It works once and until it expires.',
        auth: writing,
        validate: { query: noQuery, payload: joining },
        plugins: { civic: { problems: ['unknown_invitation', 'already_member', 'member_limit', 'membership_limit', 'workspace_forbidden'] } },
        response: { schema: workspace },
      },
      handler: (request) => civic.db.write(async (tx) => {
        const person = (await personById(tx, accountCallerOf(request).account_id))!;
        return workspaceRecord(await acceptInvitation(workspaces, tx, person, (request.payload as { token: string }).token, doerOf(request)));
      }),
    },
  ];
}
