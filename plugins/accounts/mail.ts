import { Joi, lazily, singleLine, type CheckResult, type Civic, type JobKind, type Language, type Reader, type Tx } from 'civic';
import type { AccountsConfig } from './config.ts';
import { personById } from './people/store.ts';
import { membershipIn } from './workspaces/store.ts';

const loadNodemailer = lazily(() => import('nodemailer'));

/** A mail of plain text to one address. Line breaks inside the subject and inside lines become spaces. */
export interface Mail {
  to: string;
  subject: string;
  lines: string[];
  /** The language of the text. */
  language?: Language | undefined;
  /** A page that unsubscribes the recipient by a POST request without a session (RFC 8058). */
  unsubscribe_url?: string | undefined;
  /** The mail is sent only while this account can sign in and belongs to this workspace: it may wait for the mail server for an hour. */
  member?: { account_id: string; workspace_id: string } | undefined;
}

/** Mail for this and other plugins. */
export interface MailService {
  /** Whether `mail.smtp_url` is set. Without it nothing is queued. */
  isConfigured: boolean;
  /** Queues a mail in a transaction. A job sends it after the commit, and retries. */
  queue(tx: Tx, mail: Mail): Promise<void>;
}

const language = Joi.string().valid('en', 'es');

/** The language of a mail in the payload of its job: that of the request. Jobs of earlier versions have none. */
export const languageOfMail = language.default('en');

export type MailContext = Pick<Civic<AccountsConfig>, 'config' | 'instance'>;
type MailJobContext = MailContext & { readonly db: Civic['db'] };

const TIMEOUT_MS = 5000;
const MAIL = 'accounts.mail';
const LONGEST_SUBJECT = 200;
const BREAKS = /[\r\n\u2028\u2029]+/g;

export function createMail({ config, jobs }: Pick<Civic<AccountsConfig>, 'config' | 'jobs'>): MailService {
  const isConfigured = config.mail.smtp_url !== null;
  return { isConfigured, async queue(tx, mail) { if (isConfigured) await jobs.enqueue(tx, MAIL, mail); } };
}

/** Returns the job that sends the mails of the queue. */
export function mailJob(context: MailJobContext): JobKind<Mail> {
  const text = Joi.string().allow('').required();
  return {
    name: MAIL,
    payload: Joi.object({ to: Joi.string().required(), subject: text, lines: Joi.array().items(text).required(), language, unsubscribe_url: Joi.string().uri({ scheme: ['https', 'http'] }), member: Joi.object({ account_id: text, workspace_id: text }) }),
    // About an hour: mail servers that postpone a mail accept it after minutes.
    max_attempts: 12,
    async run({ payload }) {
      if (!payload.member || await isStillMember(context.db.read, payload.member)) await sendMail(context, payload);
    },
  };
}

async function isStillMember(reader: Reader, { account_id, workspace_id }: NonNullable<Mail['member']>): Promise<boolean> {
  return (await personById(reader, account_id))?.disabled_at === null && await membershipIn(reader, account_id, workspace_id) !== null;
}

/** Sends a mail through `mail.smtp_url`; called from jobs, which retry. */
export async function sendMail({ config, instance }: MailContext, { to, subject, lines, language: contentLanguage, unsubscribe_url }: Mail): Promise<void> {
  const { default: nodemailer } = await loadNodemailer();
  const transport = nodemailer.createTransport(config.mail.smtp_url!);
  try {
    await transport.sendMail({
      from: config.mail.from ?? `noreply@${new URL(instance.public_url).hostname}`,
      // An object, because a text could list several addresses.
      to: { name: '', address: to },
      subject: singleLine(subject, LONGEST_SUBJECT),
      text: lines.map((line) => line.replaceAll(BREAKS, ' ')).join('\n'),
      headers: {
        // Without it an automatic reply could lead to another mail (RFC 3834).
        'Auto-Submitted': 'auto-generated',
        ...(contentLanguage && { 'Content-Language': contentLanguage }),
        ...(unsubscribe_url !== undefined && { 'List-Unsubscribe': `<${unsubscribe_url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
      },
    });
  } finally {
    transport.close();
  }
}

/** Checks that the mail server can be reached and accepts our credentials. */
export async function checkMail({ mail: { smtp_url } }: AccountsConfig): Promise<CheckResult> {
  if (smtp_url === null) return { status: 'ok', detail: 'no mail is sent: mail.smtp_url is not set' };
  const { host } = new URL(smtp_url);
  const { default: nodemailer } = await loadNodemailer();
  const transport = nodemailer.createTransport({ url: smtp_url, connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS, dnsTimeout: TIMEOUT_MS });
  try {
    await transport.verify();
    return { status: 'ok', detail: `mail is sent through ${host}` };
  } catch (error) {
    return { status: 'warning', detail: `mail cannot be sent through ${host}: ${(error as Error).message}`, fix: 'fix plugins.accounts.mail.smtp_url; until then, bin/civic account sign-in-link creates links' };
  } finally {
    transport.close();
  }
}
