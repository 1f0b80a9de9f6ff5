import type { Texts } from 'civic';
import type { FlagRow } from '../store.ts';
import type { MailKind } from './mails.ts';

interface MailValues {
  name: string;
  site: string;
  /** The page of the receipt. */
  url: string;
  days: number;
}

const MOST_QUOTED = 40;
const ADDRESS = /\b(?:[a-z][a-z0-9+.-]*:\/\/|www\.)\S+/gi;
/** A domain, with an e-mail address or a path around it. Programs for mail link those also without a scheme. */
const DOMAIN = /(?:[^\s@]+@)?(?:[\p{L}\p{N}][\p{L}\p{N}-]*\.)+\p{L}[\p{L}\p{N}-]+(?:[/:?#]\S*)?/gu;

/** Returns the subject and the lines of a mail to a reporter. */
export function composeMail(kind: MailKind, flag: FlagRow, t: Texts, { name, site, url, days }: MailValues): { subject: string; lines: string[] } {
  const values = { name, site };
  const body = {
    receipt: () => [t('mail.receipt_what', values), '', t('mail.receipt_code', { receipt: flag.receipt }), '', t('mail.receipt_page'), url],
    decision: () => [t(`mail.${flag.status}_what`, values), '', t('mail.quote', { at: new Date(flag.created_at) }), '', ...quoted(flag.reason), '', t(flag.status === 'accepted' ? 'mail.receipt_page' : 'mail.decision_page'), url],
    question: () => [t('mail.question_what', values), '', t('mail.question_page'), url],
  }[kind]();
  return { subject: t(`mail.${kind}_subject`, values), lines: [...body, '', t('mail.why', { days })] };
}

/** Quotes what a reporter wrote, without web and e-mail addresses: the address of the mail may belong to another person, to whom the report shows no links. */
function quoted(reason: string): string[] {
  const lines = reason.replaceAll(ADDRESS, '[…]').replaceAll(DOMAIN, '[…]').split(/\r\n|[\r\n\u2028\u2029]/);
  return [...lines.slice(0, MOST_QUOTED), ...(lines.length > MOST_QUOTED ? ['…'] : [])].map((line) => `> ${line}`);
}
