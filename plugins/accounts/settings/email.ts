import type { ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, readForm } from 'civic';
import { claimEmail, EMAIL_PATH } from '../people/email.ts';
import { page, SIGN_IN, SIGN_IN_PAGE } from '../signin/page.ts';
import { doerOf } from '../signin/sessions.ts';
import type { SettingsContext } from './context.ts';
import { emailField } from './fields.ts';
import type { ProfilePage } from './profile.ts';

const form = Joi.object<{ email: string | null }>({ email: emailField.allow('').empty('').default(null) });

export function emailRoutes({ accounts: { civic, emails }, ways: { go, signedIn }, confirmed }: SettingsContext, profilePage: ProfilePage): ServerRoute[] {
  return [
    {
      method: 'POST', path: '/account/email', options: formOptions(),
      handler: confirmed(async (visit, request, h, t) => {
        const { values, errors, given } = readForm(request, form, t);
        if (!values) return profilePage(h, visit, t, { given: { ...visit.person, ...given }, errors }, 400);
        await civic.db.write((tx) => emails.request(tx, visit.person, values.email, doerOf(request, visit.person.id)));
        return go(h, `/account?done=${values.email === null || values.email === visit.person.email ? 'saved' : 'requested'}`);
      }),
    },
    {
      method: 'POST', path: '/account/email/cancel', options: formOptions(),
      handler: signedIn(async (visit, _request, h) => {
        await civic.db.write((tx) => emails.cancel(tx, visit.person));
        return go(h, '/account?done=cancelled');
      }),
    },
    {
      // Needs no session: the link may be opened on another device than the one that sent the request.
      method: 'GET', path: EMAIL_PATH, options: SIGN_IN_PAGE,
      async handler(request, h) {
        const t = await civic.texts(request.civic.language);
        const token = String(request.query.token ?? '');
        const found = await emails.byLink(token);
        if (!found) return page(h, 'email-gone', { title: t('link_gone.title') }, 410);
        return page(h, 'email-confirm', { title: t('email_confirm.title'), token, email: found.change.email, who: found.person.name });
      },
    },
    {
      method: 'POST', path: EMAIL_PATH, options: formOptions(SIGN_IN),
      async handler(request, h) {
        const t = await civic.texts(request.civic.language);
        const found = await emails.byLink(String((request.payload as Record<string, unknown> | null)?.token));
        if (!found) return page(h, 'email-gone', { title: t('link_gone.title') }, 410);
        await claimEmail(civic.db, (tx) => emails.confirm(tx, found.person, found.change, doerOf(request, found.person.id)));
        return page(h, 'email-confirmed', { title: t('email_confirmed.title'), email: found.change.email });
      },
    },
  ];
}
