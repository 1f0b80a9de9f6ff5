import type { ServerRoute } from '@hapi/hapi';
import { formOptions, Joi } from 'civic';
import { hashOf } from '../secrets.ts';
import { page, PAGE } from '../signin/page.ts';
import { doerOf } from '../signin/sessions.ts';
import { acceptInvitation, acceptReceived, declineReceived, INVITATION_PATH } from '../workspaces/invitations.ts';
import { invitationByHash } from '../workspaces/invitations-store.ts';
import { workspaceByKey } from '../workspaces/store.ts';
import type { SettingsContext } from './context.ts';

/** The page of an invitation link, which only its button uses up, and the decision on invitations that the account received. */
export function invitationPageRoutes({ accounts: { civic, workspaces }, signIn, ways: { go, signedIn } }: SettingsContext): ServerRoute[] {
  return [
    {
      method: 'GET', path: INVITATION_PATH, options: PAGE,
      handler: signedIn(async (visit, request, h, t) => {
        const token = String(request.query.token ?? '');
        const found = await invitationByHash(civic.db.read, hashOf(token));
        if (!found || found.used_at !== null || Date.parse(found.expires_at) <= civic.clock.now()) return page(h, 'invitation-gone', { title: t('invitation_gone.title') }, 410);
        const { name } = await workspaceByKey(civic.db.read, found.workspace_key);
        const already = visit.memberships.find(({ key }) => key === found.workspace_key);
        return page(h, 'invitation', { title: t('invitation.title', { workspace: name }), token, workspace: name, role: found.role, who: visit.person.name, already: already && { id: already.id } });
      }),
    },
    {
      method: 'POST', path: INVITATION_PATH, options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const token = String((request.payload as Record<string, unknown> | null)?.token);
        const joined = await civic.db.write((tx) => acceptInvitation(workspaces, tx, visit.person, token, doerOf(request, visit.person.id)));
        await signIn.choose(visit, joined);
        return go(h, `/account/workspaces/${joined.id}?done=joined`);
      }),
    },
    {
      method: 'POST', path: '/account/invitations/{id}/{what}', options: { ...formOptions(), validate: { params: Joi.object({ id: Joi.string(), what: Joi.string().valid('accept', 'decline') }) } },
      handler: signedIn(async (visit, request, h) => {
        const { id, what } = request.params as { id: string; what: 'accept' | 'decline' };
        const by = doerOf(request, visit.person.id);
        if (what === 'decline') {
          await civic.db.write((tx) => declineReceived(workspaces, tx, visit.person, id, by));
          return go(h, '/account/workspaces?done=declined');
        }
        const joined = await civic.db.write((tx) => acceptReceived(workspaces, tx, visit.person, id, by));
        await signIn.choose(visit, joined);
        return go(h, `/account/workspaces/${joined.id}?done=joined`);
      }),
    },
  ];
}
