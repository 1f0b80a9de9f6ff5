import { Joi, type Civic, type JobKind, type Language, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import { languageOfMail, sendMail } from '../mail.ts';
import { foldEmail } from '../people/people.ts';
import { personByEmail } from '../people/store.ts';
import { createLink } from './links.ts';

export interface LinkMailContext {
  civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance' | 'jobs' | 'texts' | 'url'> & { readonly db: Civic['db'] };
  record(tx: Tx, entry: AuditEntry): Promise<void>;
}

export const LINK_MAIL = 'accounts.mail_link';

/**
 * Mails a sign-in link, if an account has the address. The account is looked up here, behind the response,
 * so that neither its text nor its time reveals whether there is one.
 */
export function linkMailJob({ civic, record }: LinkMailContext): JobKind<{ email: string; language: Language }> {
  return {
    name: LINK_MAIL,
    payload: Joi.object({ email: Joi.string().required(), language: languageOfMail }),
    max_attempts: 3,
    async run({ payload }) {
      const person = await personByEmail(civic.db.read, foldEmail(payload.email));
      if (!person?.email || person.disabled_at !== null) return;
      const link = await civic.db.write(async (tx) => {
        await record(tx, { kind: 'link_made', by: { account_id: null, address: null }, subject: person.id, detail: { by: 'mail' } });
        return createLink(civic, tx, person.key);
      });
      const t = await civic.texts(payload.language);
      const site = civic.instance.name;
      await sendMail(civic, {
        to: person.email,
        subject: t('mail.link_subject', { site }),
        lines: [
          t('mail.link_open', { site }), '', link.url, '',
          t('mail.link_minutes', { minutes: civic.config.link_minutes }),
          t('mail.link_not_you'),
        ],
      });
    },
  };
}
