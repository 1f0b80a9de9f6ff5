import type { Civic, JobKind } from 'civic';
import { Joi } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { foldEmail } from '../people/people.ts';
import { personByEmail } from '../people/store.ts';
import type { AuditEntry } from '../audit/store.ts';
import type { Tx } from 'civic';
import { createLink, type SignInLink } from './links.ts';

export interface MailContext {
  civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance' | 'jobs' | 'url'> & { readonly db: Civic['db'] };
  record(tx: Tx, entry: AuditEntry): Promise<void>;
}

export const MAIL_JOB = 'accounts.mail_link';

/**
 * Mails a sign-in link, if an account has the address. That is found out here, behind the answer,
 * so that neither its words nor its time tell whether there is one.
 */
export function mailJob({ civic, record }: MailContext): JobKind<{ email: string }> {
  return {
    name: MAIL_JOB,
    payload: Joi.object({ email: Joi.string().required() }),
    max_attempts: 3,
    async run({ payload }) {
      const person = await personByEmail(civic.db.read, foldEmail(payload.email));
      if (!person?.email || person.disabled_at !== null) return;
      const link = await civic.db.write(async (tx) => {
        await record(tx, { kind: 'link_made', by: { account_id: null, address: null }, subject: person.id, detail: { by: 'mail' } });
        return createLink(civic, tx, person.key);
      });
      await send(civic, person.email, link);
    },
  };
}

async function send({ config, instance }: MailContext['civic'], to: string, { url }: SignInLink): Promise<void> {
  const { default: nodemailer } = await import('nodemailer');
  const transport = nodemailer.createTransport(config.mail.smtp_url!);
  try {
    await transport.sendMail({
      from: config.mail.from ?? `noreply@${new URL(instance.public_url).hostname}`,
      to,
      subject: `Sign in to ${instance.name}`,
      text: [
        `Open this link to sign in to ${instance.name}:`, '', url, '',
        `It works once, for ${config.link_minutes} minutes.`,
        'If you did not ask for it, do nothing: nobody gets in without this link.',
      ].join('\n'),
    });
  } finally {
    transport.close();
  }
}
