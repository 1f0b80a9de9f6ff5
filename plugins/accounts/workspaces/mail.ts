import { Joi, type Civic, type JobKind, type Language } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { languageOfMail, sendMail } from '../mail.ts';
import { personByEmail, personByKey } from '../people/store.ts';
import { createThrottle } from '../signin/throttle.ts';
import { invitationById } from './invitations-store.ts';
import { workspaceByKey } from './store.ts';

export const INVITATION_MAIL = 'accounts.mail_invitation';

/** Mails to one account in an hour: an invitation is in its list in any case. */
const MOST = 5;
const HOUR_SECONDS = 3600;

/** Tells an invited account by mail, if one has the address. Runs behind the response, whose time and text are the same in both cases. */
export function invitationMailJob(civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance' | 'texts' | 'url'> & { readonly db: Civic['db'] }): JobKind<{ invitation_id: string; language: Language }> {
  const throttle = createThrottle(MOST, HOUR_SECONDS, () => civic.clock.now());
  return {
    name: INVITATION_MAIL,
    payload: Joi.object({ invitation_id: Joi.string().required(), language: languageOfMail }),
    max_attempts: 3,
    async run({ payload }) {
      const found = await invitationById(civic.db.read, payload.invitation_id);
      if (!found || found.used_at !== null) return;
      const person = found.account_key !== null ? await personByKey(civic.db.read, found.account_key) : await personByEmail(civic.db.read, found.email_folded!);
      if (!person?.email || person.disabled_at !== null || !throttle.admits(person.id)) return;
      const maker = await personByKey(civic.db.read, found.created_by);
      const { name } = await workspaceByKey(civic.db.read, found.workspace_key);
      const t = await civic.texts(payload.language);
      const site = civic.instance.name;
      await sendMail(civic, {
        to: person.email,
        subject: t('mail.invitation_subject', { site }),
        lines: [
          t('mail.invitation_what', { who: maker?.name ?? t('mail.invitation_member'), workspace: name, site, role: t(`roles.${found.role}`) }), '',
          t('mail.invitation_open'), '', civic.url('/account/workspaces'), '',
          t('mail.invitation_else'),
        ],
      });
    },
  };
}
