import { Joi, newId, type Civic, type JobKind, type Language, type Tx } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { languageOfMail, sendMail } from '../mail.ts';
import type { PersonRow } from '../people/store.ts';
import type { Doer } from '../types.ts';
import { insertNotice, type NoticeRow } from './store.ts';
import { noticeWords, type NoticeKind } from './words.ts';

/** Creates a security notice and its mail, in the transaction of the event. */
export type Notify = (tx: Tx, account: Pick<PersonRow, 'key' | 'email'>, notice: { kind: NoticeKind; detail?: NoticeRow['detail'] }, by: Doer) => Promise<void>;

interface NoticeMail {
  email: string;
  kind: NoticeKind;
  detail: NoticeRow['detail'];
  address: string | null;
  at: string;
  language: Language;
}

type NoticesCivic = Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance' | 'jobs' | 'texts' | 'url'>;

export const NOTICE_MAIL = 'accounts.mail_notice';

export function createNotify({ clock, config, jobs }: NoticesCivic): Notify {
  return async (tx, { key, email }, { kind, detail = {} }, { address, language = 'en' }) => {
    const at = clock.iso();
    await insertNotice(tx, { id: newId(clock.now()), account_key: key, kind, detail, address, at });
    if (email === null || config.mail.smtp_url === null) return;
    const mail: NoticeMail = { email, kind, detail, address, at, language };
    await jobs.enqueue(tx, NOTICE_MAIL, mail);
  };
}

export function noticeMailJob(civic: NoticesCivic): JobKind<NoticeMail> {
  return {
    name: NOTICE_MAIL,
    payload: Joi.object({ email: Joi.string().required(), kind: Joi.string().required(), detail: Joi.object().unknown().required(), address: Joi.string().allow(null).required(), at: Joi.string().required(), language: languageOfMail }),
    max_attempts: 3,
    async run({ payload: { email, kind, detail, address, at, language } }) {
      const t = await civic.texts(language);
      await sendMail(civic, {
        to: email,
        subject: t('mail.notice_subject', { site: civic.instance.name }),
        lines: [
          noticeWords(kind, detail, t), '',
          t('mail.notice_when', { at }),
          ...(address === null ? [] : [t('mail.notice_from', { address })]),
          '',
          t('mail.notice_next'), '',
          civic.url('/account'),
        ],
      });
    },
  };
}
