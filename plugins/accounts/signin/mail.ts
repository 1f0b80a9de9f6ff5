import { Joi, type Civic, type JobKind, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import { sendMail } from '../mail.ts';
import { foldEmail } from '../people/people.ts';
import { personByEmail } from '../people/store.ts';
import { createLink } from './links.ts';

export interface LinkMailContext {
  civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance' | 'jobs' | 'url'> & { readonly db: Civic['db'] };
  record(tx: Tx, entry: AuditEntry): Promise<void>;
}

export const LINK_MAIL = 'accounts.mail_link';

/**
 * Mails a sign-in link, if an account has the address. The account is looked up here, behind the response,
 * so that neither its text nor its time reveals whether there is one.
 */
export function linkMailJob({ civic, record }: LinkMailContext): JobKind<{ email: string }> {
  return {
    name: LINK_MAIL,
    payload: Joi.object({ email: Joi.string().required() }),
    max_attempts: 3,
    async run({ payload }) {
      const person = await personByEmail(civic.db.read, foldEmail(payload.email));
      if (!person?.email || person.disabled_at !== null) return;
      const link = await civic.db.write(async (tx) => {
        await record(tx, { kind: 'link_made', by: { account_id: null, address: null }, subject: person.id, detail: { by: 'mail' } });
        return createLink(civic, tx, person.key);
      });
      await sendMail(civic, {
        to: person.email,
        subject: `Sign in to ${civic.instance.name}`,
        lines: [
          `Open this link to sign in to ${civic.instance.name}:`, '', link.url, '',
          `It works once, for ${civic.config.link_minutes} minutes.`,
          'If you did not ask for it, do nothing: nobody can sign in without this link.',
        ],
      });
    },
  };
}
