import { Joi, problem, type Civic, type Database, type JobKind, type Language, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import { languageOfMail, sendMail } from '../mail.ts';
import type { Notify } from '../notices/notices.ts';
import { hashOf, newSecret } from '../secrets.ts';
import { endLinks } from '../signin/links-store.ts';
import type { Doer } from '../types.ts';
import { deleteEmailChange, emailChangeByHash, emailChangeOf, putEmailChange, setEmailSecret, type EmailChangeRow } from './email-store.ts';
import { foldEmail } from './people.ts';
import { changePerson, personByEmail, personByKey, type PersonRow } from './store.ts';

/**
 * An e-mail address changes in two steps: the account requests it, and it takes effect once it is confirmed, by the link that
 * is mailed to it or by the operator. Until then the old address stays, and responses do not reveal who has the new one.
 */
export interface Emails {
  /** Requests an address; null removes the current one. */
  request(tx: Tx, person: PersonRow, email: string | null, by: Doer): Promise<void>;
  cancel(tx: Tx, person: PersonRow): Promise<void>;
  pendingOf(person: PersonRow): Promise<EmailChangeRow | null>;
  /** The change and the account that the secret of a mailed link belongs to; null when it is used, replaced or expired. */
  byLink(secret: string): Promise<{ change: EmailChangeRow; person: PersonRow } | null>;
  /** Sets the pending address; 409 when another account has it. Called inside `claimEmail`. */
  confirm(tx: Tx, person: PersonRow, change: EmailChangeRow, by: Doer): Promise<void>;
  job: JobKind<{ account_key: number; language: Language }>;
}

export interface EmailsContext {
  civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance' | 'jobs' | 'texts' | 'url'> & { readonly db: Civic['db'] };
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  notify: Notify;
}

const EMAIL_MAIL = 'accounts.mail_email_change';
const DAY = 86_400_000;
/** Long, because the operator may take a while, and a mailed link is useless to anyone else. */
const DAYS = 7;

export const EMAIL_PATH = '/account/email/confirm';

export function createEmails({ civic, record, notify }: EmailsContext): Emails {
  const { clock, config } = civic;

  async function change(tx: Tx, person: PersonRow, email: string | null, by: Doer): Promise<void> {
    await changePerson(tx, person.key, { email, email_folded: email === null ? null : foldEmail(email) });
    // Links were mailed to the old address.
    await endLinks(tx, person.key, clock.iso());
    await record(tx, { kind: 'email_changed', by, subject: person.id });
    // Sent to the old address, so that its owner learns of the change.
    await notify(tx, person, { kind: 'email_changed', detail: { to: email } }, by);
  }

  return {
    async request(tx, person, email, by) {
      await deleteEmailChange(tx, person.key);
      if (email === null && person.email !== null) return change(tx, person, null, by);
      if (email === null || foldEmail(email) === person.email_folded) return;
      await putEmailChange(tx, { account_key: person.key, email, email_folded: foldEmail(email), secret_hash: null, created_at: clock.iso(), expires_at: new Date(clock.now() + DAYS * DAY).toISOString() });
      await record(tx, { kind: 'email_requested', by, subject: person.id });
      await notify(tx, person, { kind: 'email_requested', detail: { to: email } }, by);
      if (config.mail.smtp_url !== null) await civic.jobs.enqueue(tx, EMAIL_MAIL, { account_key: person.key, language: by.language ?? 'en' });
    },
    cancel: async (tx, person) => { await deleteEmailChange(tx, person.key); },
    pendingOf: (person) => emailChangeOf(civic.db.read, person.key, clock.iso()),
    async byLink(secret) {
      const found = await emailChangeByHash(civic.db.read, hashOf(secret), clock.iso());
      const person = found && await personByKey(civic.db.read, found.account_key);
      return person && person.disabled_at === null ? { change: found, person } : null;
    },
    async confirm(tx, person, { email, email_folded }, by) {
      const other = await personByEmail(tx, email_folded);
      if (other && other.key !== person.key) throw problem('email_taken');
      if (!await deleteEmailChange(tx, person.key, email_folded)) throw problem('unknown_email_change');
      await change(tx, person, email, by);
    },
    job: {
      name: EMAIL_MAIL,
      payload: Joi.object({ account_key: Joi.number().required(), language: languageOfMail }),
      max_attempts: 3,
      async run({ payload }) {
        const pending = await emailChangeOf(civic.db.read, payload.account_key, clock.iso());
        // An account that has the address already gets no link: it could only end in a conflict.
        if (!pending || await personByEmail(civic.db.read, pending.email_folded)) return;
        const secret = newSecret();
        if (!await civic.db.write((tx) => setEmailSecret(tx, pending, hashOf(secret)))) return;
        const t = await civic.texts(payload.language);
        const site = civic.instance.name;
        await sendMail(civic, {
          to: pending.email,
          subject: t('mail.email_subject', { site }),
          lines: [
            t('mail.email_open', { email: pending.email, site }), '', `${civic.url(EMAIL_PATH)}?token=${secret}`, '',
            t('mail.email_days', { days: DAYS }),
            t('mail.email_not_you'),
          ],
        });
      },
    },
  };
}

/** Runs a write that sets an address. Of two accounts that claim one address at the same time, the second gets 409. */
export async function claimEmail<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await db.write(work);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const isTaken = (code === '23505' || code === 'SQLITE_CONSTRAINT') && message.includes('email_folded');
    throw isTaken ? problem('email_taken') : error;
  }
}
