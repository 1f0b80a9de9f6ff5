import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi } from 'civic';
import { accountCallerOf, doerOf, reading, writing } from '../access.ts';
import { personById, type PersonRow } from '../people/store.ts';
import { workspaceRecord, type Accounts } from '../service.ts';
import { acceptReceived, declineReceived } from './invitations.ts';
import { receivedInvitations, type ReceivedInvitationRow } from './invitations-store.ts';
import { whole } from './routes.ts';
import { receivedInvitation, wholeList, workspace } from './schemas.ts';

const noQuery = Joi.object({});
const params = Joi.object({ id: Joi.string() });
const shown = ({ workspace_id, workspace_name, ...rest }: ReceivedInvitationRow) => ({ ...rest, workspace: { id: workspace_id, name: workspace_name } });

/** Invitations that the caller's account has received. */
export function receivedRoutes({ civic, workspaces }: Accounts): ServerRoute[] {
  const person = async (reader: typeof civic.db.read, request: Request): Promise<PersonRow> => (await personById(reader, accountCallerOf(request).account_id))!;
  return [
    {
      method: 'GET',
      path: '/api/invitations',
      options: {
        description: 'Workspaces that invite your account',
        notes: 'Invitations by link are not listed here: they name no account.',
        auth: reading,
        validate: { query: noQuery },
        plugins: { civic: { problems: ['workspace_forbidden'] } },
        response: { schema: wholeList(receivedInvitation, 'ReceivedInvitationList') },
      },
      handler: async (request) => whole((await receivedInvitations(civic.db.read, await person(civic.db.read, request), civic.clock.iso())).map(shown)),
    },
    {
      method: 'POST',
      path: '/api/invitations/{id}/accept',
      options: {
        description: 'Accept an invitation to your account and become a member',
        notes: 'The role is the one the invitation names. An invitation that was withdrawn, declined or accepted before is 404.',
        auth: writing,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_invitation', 'already_member', 'member_limit', 'membership_limit', 'workspace_forbidden'] } },
        response: { schema: workspace },
      },
      handler: (request) => civic.db.write(async (tx) => workspaceRecord(await acceptReceived(workspaces, tx, await person(tx, request), String(request.params.id), doerOf(request)))),
    },
    {
      method: 'POST',
      path: '/api/invitations/{id}/decline',
      options: {
        description: 'Decline an invitation to your account',
        notes: 'The workspace may invite you again. Nothing else changes.',
        auth: writing,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_invitation', 'workspace_forbidden'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await civic.db.write(async (tx) => declineReceived(workspaces, tx, await person(tx, request), String(request.params.id), doerOf(request)));
        return h.response().code(204);
      },
    },
  ];
}
