import { LOCALES, type Language } from './language.ts';

/** A time as an RFC 3339 text, a day such as `2026-11-24`, milliseconds, or a `Date`. */
export type Time = string | number | Date;

/** Dates and numbers as they are written in one language. */
export interface Formats {
  /** 1,204 */
  formatNumber(value: number): string;
  /** Nov 24, 2026; in UTC unless an IANA time zone is given. */
  formatDate(value: Time, timeZone?: string): string;
  /** Tue, Nov 24, 6:30 PM CST; a day has no hour */
  formatTime(value: Time, timeZone?: string): string;
  /** 6:30 PM CST */
  formatHour(value: Time, timeZone?: string): string;
  /** today, yesterday, or the date */
  formatDay(value: Time, timeZone?: string): string;
}

const DATE: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
const HOUR: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
const TIME: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short', ...HOUR };
const WHOLE_DAY: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short' };
const FORMS = { date: DATE, time: TIME, hour: HOUR, whole_day: WHOLE_DAY };
const DAY_ONLY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
/** Each formatter takes kilobytes; an instance shows the times of a few zones. */
const MOST_FORMATTERS = 60;

export function createFormats(language: Language, now: () => number): Formats {
  const locale = LOCALES[language];
  const numbers = new Intl.NumberFormat(locale);
  const days = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const formatters = new Map<string, Intl.DateTimeFormat>();

  function formatter(form: keyof typeof FORMS | 'day', timeZone: string): Intl.DateTimeFormat {
    const key = `${form} ${timeZone}`;
    const known = formatters.get(key);
    if (known) return known;
    // The form of a day is that of ISO 8601, whatever the language.
    const made = form === 'day' ? new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }) : new Intl.DateTimeFormat(locale, { ...FORMS[form], timeZone });
    if (formatters.size >= MOST_FORMATTERS) formatters.clear();
    formatters.set(key, made);
    return made;
  }

  function written(form: keyof typeof FORMS | 'day', value: Time, timeZone = 'UTC'): string {
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) return String(value);
    const zone = isDay(value) ? 'UTC' : knownZone(timeZone);
    return formatter(form, zone).format(date);
  }

  function formatDay(value: Time, timeZone?: string): string {
    const today = written('day', now(), timeZone);
    const days_ago = (Date.parse(today) - Date.parse(written('day', value, timeZone))) / DAY_MS;
    return days_ago === 0 || days_ago === 1 ? days.format(-days_ago, 'day') : written('date', value, timeZone);
  }

  return {
    formatNumber: (value) => numbers.format(value),
    formatDate: (value, timeZone) => written('date', value, timeZone),
    formatTime: (value, timeZone) => written(isDay(value) ? 'whole_day' : 'time', value, timeZone),
    formatHour: (value, timeZone) => written('hour', value, timeZone),
    formatDay,
  };
}

function isDay(value: Time): boolean {
  return typeof value === 'string' && DAY_ONLY.test(value);
}

const zones = new Map<string, string>();

/** A zone that this version of Node does not know is shown as UTC, which the time then names. */
function knownZone(timeZone: string): string {
  const known = zones.get(timeZone);
  if (known) return known;
  if (zones.size >= MOST_FORMATTERS * 10) zones.clear();
  const zone = isZone(timeZone) ? timeZone : 'UTC';
  zones.set(timeZone, zone);
  return zone;
}

function isZone(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }));
  } catch {
    return false;
  }
}
