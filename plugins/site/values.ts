import type { Texts } from 'civic';
import type { ClaimValues, Property, StatedValue } from 'civic/directory';
import { isWholeDay } from './places/events.ts';
import { isWebAddress } from './quotes.ts';
import { translatedIssue } from './words.ts';

/** What is needed to show values: the names, links and times that they refer to. */
export interface Referred {
  t: Texts;
  /** The names of places by key. */
  places: ReadonlyMap<string, string>;
  issueName(slug: string): string | null;
  /** Ids of public actors, whose pages can be linked. */
  affiliated: ReadonlySet<string>;
  /** The time zone of the times of an event; UTC when absent. */
  timeZone?: string;
  /** The current time, in milliseconds since the epoch. */
  now: number;
}

/** A value as visitors read it. */
export interface ShownValue {
  text: string;
  /** The path of a page of this site; `url` is an address on another site. */
  href?: string;
  url?: string;
  /** The time zone of a time, and other additions. */
  note?: string;
  /** The forms in which sources may write the value, to find it in a quote. */
  forms: string[];
}

type Shown<Name extends Property> = (value: ClaimValues[Name], referred: Referred) => ShownValue;

const plain = (text: string): ShownValue => ({ text, forms: [text] });
const time = (value: string, referred: Referred): ShownValue => ({ text: eventTime(value, referred), forms: [value] });

const WORDS: { [Name in Property]: Shown<Name> } = {
  name: plain,
  description: plain,
  event_location: plain,
  type: (type, { t }) => ({ text: t(`types.${type}`), forms: [type] }),
  status: (status, { t }) => ({ text: t(`statement.status.${status}`), forms: [] }),
  place: (key, { places }) => ({ text: places.get(key) ?? key, href: places.has(key) ? `/places/${key}` : undefined, forms: [places.get(key)?.split(',')[0] ?? key] }),
  issue_area(slug, { t, issueName }) {
    const name = issueName(slug);
    return name === null ? { ...plain(slug), forms: [slug.replaceAll('_', ' ')] } : { text: translatedIssue(t, slug, name), href: `/issues/${slug}`, forms: [name] };
  },
  website: (url) => ({ text: url.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, ''), url: isWebAddress(url) ? url : undefined, forms: [url, url.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '')] }),
  email: (email) => ({ text: email, url: /^[^\s@?&]+@[^\s@?&]+$/.test(email) ? `mailto:${email}` : undefined, forms: [email] }),
  phone: (phone) => ({ text: shownPhone(phone), url: /^\+\d[\d ]+$/.test(phone) ? `tel:${phone.replaceAll(' ', '')}` : undefined, forms: phoneForms(phone) }),
  social: ({ network, url }) => ({ text: network, url: isWebAddress(url) ? url : undefined, note: url.replace(/^https?:\/\/(www\.)?/i, ''), forms: [url, url.split('/').findLast((part) => part !== '') ?? url] }),
  identifier: ({ scheme, value }) => ({ text: value, note: scheme.length <= 3 ? scheme.toUpperCase() : scheme, forms: [value] }),
  affiliation({ entity_id: id, name, role, since, until }, { t, affiliated }) {
    const years = since || until ? `${since ?? ''}–${until ?? ''}` : undefined;
    return { text: role ? t('statement.role', { role, name }) : name, href: id !== null && affiliated.has(id) ? `/actors/${id}` : undefined, note: years, forms: [name, role ?? ''] };
  },
  event_start: time,
  event_end: time,
};

export function shownValue({ property, value }: Pick<StatedValue, 'property' | 'value'>, referred: Referred): ShownValue {
  return (WORDS[property] as Shown<Property>)(value as never, referred);
}

/** Formats the time of an event: a date alone for a whole day, and the year only when it is not the current one. */
export function eventTime(time: string, { t, timeZone, now }: Pick<Referred, 't' | 'timeZone' | 'now'>): string {
  if (isWholeDay(time)) return t.formatDate(time);
  const year = new Date(time).getUTCFullYear();
  const words = t.formatTime(time, timeZone);
  return year === new Date(now).getUTCFullYear() ? words : t('statement.time_of_year', { time: words, year: String(year) });
}

const AMERICAN = /^\+1 ?(\d{3}) ?(\d{3}) ?(\d{4})$/;

export function shownPhone(phone: string): string {
  return phone.replace(AMERICAN, '($1) $2-$3');
}

function phoneForms(phone: string): string[] {
  const [, area, exchange, line] = AMERICAN.exec(phone) ?? [];
  return area ? [`(${area}) ${exchange}-${line}`, `${area}-${exchange}-${line}`, `${area}.${exchange}.${line}`, phone] : [phone];
}
