import { Joi, lazily, type CheckResult, type Civic } from 'civic';
import type { AccountsConfig } from './config.ts';

const loadNodemailer = lazily(() => import('nodemailer'));

export interface Mail {
  to: string;
  subject: string;
  lines: string[];
}

/** The language of a mail in the payload of its job: that of the request. Jobs of earlier versions have none. */
export const languageOfMail = Joi.string().valid('en', 'es').default('en');

export type MailContext = Pick<Civic<AccountsConfig>, 'config' | 'instance'>;

const PATIENCE_MS = 5000;

/** Sends a mail through `mail.smtp_url`; called from jobs, which retry. */
export async function sendMail({ config, instance }: MailContext, { to, subject, lines }: Mail): Promise<void> {
  const { default: nodemailer } = await loadNodemailer();
  const transport = nodemailer.createTransport(config.mail.smtp_url!);
  try {
    await transport.sendMail({ from: config.mail.from ?? `noreply@${new URL(instance.public_url).hostname}`, to, subject, text: lines.join('\n') });
  } finally {
    transport.close();
  }
}

/** Checks that the mail server can be reached and accepts our credentials. */
export async function checkMail({ mail: { smtp_url } }: AccountsConfig): Promise<CheckResult> {
  if (smtp_url === null) return { status: 'ok', detail: 'no mail is sent: mail.smtp_url is not set' };
  const { host } = new URL(smtp_url);
  const { default: nodemailer } = await loadNodemailer();
  const transport = nodemailer.createTransport({ url: smtp_url, connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS, dnsTimeout: PATIENCE_MS });
  try {
    await transport.verify();
    return { status: 'ok', detail: `mail is sent through ${host}` };
  } catch (error) {
    return { status: 'warning', detail: `mail cannot be sent through ${host}: ${(error as Error).message}`, fix: 'fix plugins.accounts.mail.smtp_url; until then, bin/civic account sign-in-link creates links' };
  } finally {
    transport.close();
  }
}
