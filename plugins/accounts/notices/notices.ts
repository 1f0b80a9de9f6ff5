import { newId, type Civic, type Tx } from 'civic';
import type { AccountsConfig } from '../config.ts';
import type { MailService } from '../mail.ts';
import type { PersonRow } from '../people/store.ts';
import type { Doer } from '../types.ts';
import { insertNotice, type NoticeRow } from './store.ts';
import { noticeWords, type NoticeKind } from './words.ts';

/** Creates a security notice and its mail, in the transaction of the event. */
export type Notify = (tx: Tx, account: Pick<PersonRow, 'key' | 'email'>, notice: { kind: NoticeKind; detail?: NoticeRow['detail'] }, by: Doer) => Promise<void>;

type NoticesCivic = Pick<Civic<AccountsConfig>, 'clock' | 'instance' | 'texts' | 'url'>;

export function createNotify(civic: NoticesCivic, mail: MailService): Notify {
  return async (tx, { key, email }, { kind, detail = {} }, { address, language = 'en' }) => {
    const at = civic.clock.iso();
    await insertNotice(tx, { id: newId(civic.clock.now()), account_key: key, kind, detail, address, at });
    if (email === null || !mail.isConfigured) return;
    const t = await civic.texts(language);
    await mail.queue(tx, {
      to: email,
      language,
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
  };
}
