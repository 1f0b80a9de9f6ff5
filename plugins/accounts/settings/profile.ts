import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, readForm } from 'civic';
import { foldEmail } from '../people/people.ts';
import { changePerson, personByEmail } from '../people/store.ts';
import { PAGE } from '../signin/page.ts';
import { doerOf, type Visit } from '../signin/sessions.ts';
import { receivedInvitations } from '../workspaces/invitations-store.ts';
import { noticeOf, settingsPage, type SettingsContext, type Shown } from './context.ts';
import { emailField, nameField } from './fields.ts';
import { shortDate } from './words.ts';

const form = Joi.object<{ name: string; email: string | null }>({ name: nameField, email: emailField.allow('').empty('').default(null) });
const SHOWN: Shown = { part: 'account', template: 'profile', title: 'Profile' };

export function profileRoutes({ accounts: { civic, record }, signIn, ways: { go, signedIn } }: SettingsContext): ServerRoute[] {
  const invitationsOf = async (visit: Visit): Promise<string | null> => {
    const { length } = await receivedInvitations(civic.db.read, visit.person, civic.clock.iso());
    return length === 0 ? null : length === 1 ? 'A workspace invites you.' : `${length} workspaces invite you.`;
  };
  const profilePage = async (h: ResponseToolkit, visit: Visit, more: object, status = 200): Promise<ResponseObject> => settingsPage(h, visit, { ...SHOWN, status }, {
    invitations: await invitationsOf(visit),
    given: visit.person, id: visit.person.id, role: visit.person.role, since: shortDate(visit.person.created_at), emailHint: signIn.mails ? 'Sign-in links are sent to it.' : undefined, ...more,
  });

  return [
    { method: 'GET', path: '/account', options: PAGE, handler: signedIn((visit, request, h) => profilePage(h, visit, { notice: noticeOf(request) })) },
    {
      method: 'POST', path: '/account', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const { person } = visit;
        const { values, errors, given } = readForm(request, form);
        if (!values) return profilePage(h, visit, { given, errors }, 400);
        const folded = values.email === null ? null : foldEmail(values.email);
        const isTaken = await civic.db.write(async (tx) => {
          const other = folded === null ? null : await personByEmail(tx, folded);
          if (other && other.key !== person.key) return true;
          await changePerson(tx, person.key, { name: values.name, email: values.email, email_folded: folded });
          if (folded !== person.email_folded) await record(tx, { kind: 'email_changed', by: doerOf(request, person.id), subject: person.id });
          return false;
        });
        return isTaken ? profilePage(h, visit, { given, errors: { email: 'Another account has this address.' } }, 400) : go(h, '/account?done=saved');
      }),
    },
  ];
}
