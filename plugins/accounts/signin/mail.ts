import { Joi, type CheckResult, type Civic, type JobKind, type Tx } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { foldEmail } from '../people/people.ts';
import { personByEmail } from '../people/store.ts';
import type { AuditEntry } from '../audit/store.ts';
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

const PATIENCE_MS = 5000;

/** Whether the mail server is there and lets us in, which those who wait for a mail cannot find out. */
export async function checkMail({ mail: { smtp_url } }: AccountsConfig): Promise<CheckResult> {
  if (smtp_url === null) return { status: 'ok', detail: 'sign-in links are not mailed' };
  const { host } = new URL(smtp_url);
  const { default: nodemailer } = await import('nodemailer');
  const transport = nodemailer.createTransport({ url: smtp_url, connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS, dnsTimeout: PATIENCE_MS });
  try {
    await transport.verify();
    return { status: 'ok', detail: `sign-in links are mailed through ${host}` };
  } catch (error) {
    return { status: 'warning', detail: `sign-in links cannot be mailed through ${host}: ${(error as Error).message}`, fix: 'mend plugins.accounts.mail.smtp_url; until then, bin/civic account sign-in-link makes links' };
  } finally {
    transport.close();
  }
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
