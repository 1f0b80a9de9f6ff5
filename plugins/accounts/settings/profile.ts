import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, isId, Joi, readForm, type Texts } from 'civic';
import { deleteNotices, noticesOf } from '../notices/store.ts';
import { noticeWords } from '../notices/words.ts';
import { changePerson } from '../people/store.ts';
import { PAGE } from '../signin/page.ts';
import type { Visit } from '../signin/sessions.ts';
import { receivedInvitations } from '../workspaces/invitations-store.ts';
import { noticeOf, type SettingsContext } from './context.ts';
import { emailRoutes } from './email.ts';
import { nameField } from './fields.ts';
import { when } from './words.ts';

const form = Joi.object<{ name: string }>({ name: nameField });
const NOTICES_SHOWN = 20;

export type ProfilePage = (h: ResponseToolkit, visit: Visit, t: Texts, more: object, status?: number) => Promise<ResponseObject>;

export function profileRoutes(context: SettingsContext): ServerRoute[] {
  const { accounts: { civic, emails }, signIn, ways: { go, signedIn }, settingsPage, entries } = context;

  const profilePage: ProfilePage = async (h, visit, t, more, status = 200) => {
    const { person } = visit;
    const now = civic.clock.now();
    const { length } = await receivedInvitations(civic.db.read, person, civic.clock.iso());
    const pending = await emails.pendingOf(person);
    return settingsPage(h, visit, { part: 'account', template: 'profile', title: t('parts.account'), status }, {
      invitations: length,
      notices: (await noticesOf(civic.db.read, person.key, NOTICES_SHOWN)).map(({ id, kind, detail, address, at }) => ({ id, words: noticeWords(kind, detail, t), address, at: when(at, now, t) })),
      remedies: entries.filter(({ remedy }) => remedy !== undefined),
      given: person, email: person.email, pending: pending && { email: pending.email }, mails: signIn.mails,
      id: person.id, role: person.role, since: t.formatDate(person.created_at), ...more,
    });
  };

  return [
    { method: 'GET', path: '/account', options: PAGE, handler: signedIn((visit, request, h, t) => profilePage(h, visit, t, { notice: noticeOf(request, t) })) },
    {
      method: 'POST', path: '/account', options: formOptions(),
      handler: signedIn(async (visit, request, h, t) => {
        const { values, errors, given } = readForm(request, form, t);
        if (!values) return profilePage(h, visit, t, { given: { ...visit.person, ...given }, errors }, 400);
        await civic.db.write((tx) => changePerson(tx, visit.person.key, { name: values.name }));
        return go(h, '/account?done=saved');
      }),
    },
    {
      method: 'POST', path: '/account/notices/dismiss', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const { id } = (request.payload ?? {}) as Record<string, unknown>;
        if (id === undefined || isId(String(id))) await civic.db.write((tx) => deleteNotices(tx, visit.person.key, id === undefined ? undefined : String(id)));
        return go(h, '/account');
      }),
    },
    ...emailRoutes(context, profilePage),
  ];
}
