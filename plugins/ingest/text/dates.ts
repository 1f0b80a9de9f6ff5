import { isDay } from './zone.ts';

/** A date in a text. */
export interface FoundDate {
  start: number;
  end: number;
  /** Null where the text leaves it out: `March 4`. */
  year: number | null;
  month: number;
  day: number;
  /** From 0 for Sunday; null without one. */
  weekday: number | null;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
// Pages misspell February.
const MONTH = '(?:jan(?:uary)?|feb(?:[ru]{1,3}[ar]{1,3}y)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b\\.?';
const WEEKDAY = '(?:(?<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?)\\.?,?\\s{1,3})?';
const YEAR = '(?:19|20)\\d{2}';

/** Every quantifier is bounded, so that the search takes time in proportion to the text. */
const DATE = new RegExp([
  `\\b${WEEKDAY}(?<monthFirst>${MONTH}),?\\s{0,3}(?<dayAfter>\\d{1,2})(?!\\d|:)(?:st|nd|rd|th)?\\b(?:,?\\s{0,2}(?<yearAfter>${YEAR})(?!\\d{3}))?`,
  `\\b${WEEKDAY.replaceAll('weekday', 'weekdayBefore')}(?<dayBefore>\\d{1,2})(?:st|nd|rd|th)?(?:\\s{1,2}of)?\\s{0,2}(?<monthAfter>${MONTH})(?:,?\\s{0,2}(?<yearLast>${YEAR})\\b)?`,
  `(?<!\\d)(?<isoYear>${YEAR})-(?<isoMonth>\\d{1,2})-(?<isoDay>\\d{1,2})(?!\\d)`,
  `(?<![\\d/.-])(?<numericMonth>\\d{1,2})(?<mark>[/.-])(?<numericDay>\\d{1,2})\\k<mark>(?<numericYear>${YEAR}|\\d{2})(?![\\d/]|[.-]\\d)`,
].join('|'), 'dgi');

/** Returns the dates of a text with a day and a month, in the order of the United States: month, day, year. */
export function findDates(text: string): FoundDate[] {
  const found: FoundDate[] = [];
  for (const match of text.matchAll(DATE)) {
    const date = dateOf(match);
    if (date) found.push(date);
  }
  return found;
}

function dateOf({ index, 0: whole, groups = {} }: RegExpExecArray): FoundDate | null {
  const name = groups.monthFirst ?? groups.monthAfter;
  // "may 5" is more often a verb than a month.
  if (name?.startsWith('may')) return null;
  const month = name ? MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1 : Number(groups.isoMonth ?? groups.numericMonth);
  const day = Number(groups.dayAfter ?? groups.dayBefore ?? groups.isoDay ?? groups.numericDay);
  const year = fullYear(groups.yearAfter ?? groups.yearLast ?? groups.isoYear ?? groups.numericYear);
  if (!isDay({ year: year ?? 2000, month, day })) return null;
  const weekday = groups.weekday ?? groups.weekdayBefore;
  return { start: index, end: index + whole.length, year, month, day, weekday: weekday ? WEEKDAYS.indexOf(weekday.slice(0, 3).toLowerCase()) : null };
}

function fullYear(digits: string | undefined): number | null {
  if (digits === undefined) return null;
  const year = Number(digits);
  return digits.length === 2 ? year + (year < 70 ? 2000 : 1900) : year;
}

/** Returns the years in a text that are no part of a date, an address or a number. */
export function findYears(text: string): number[] {
  return [...text.matchAll(/(?<![\d#/.-])(?:19|20)\d{2}(?![\d/])/g)].map(([digits]) => Number(digits));
}

/** Returns `October 2018` as a month, when a text is little else. */
export function findMonth(text: string): { year: number; month: number } | null {
  const [, name, year] = new RegExp(`^\\W{0,3}(${MONTH}),?\\s{1,2}(${YEAR})\\W{0,3}$`, 'i').exec(text.slice(0, 40)) ?? [];
  return name && year ? { year: Number(year), month: MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1 } : null;
}
