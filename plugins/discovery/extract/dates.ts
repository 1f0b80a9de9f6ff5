import type { Range } from 'civic/reader';

/** A date with a year in a text. */
export interface FoundDate extends Range {
  /** Such as `2026-03-02`. */
  day: string;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const SPANISH: Record<string, number> = { ene: 1, abr: 4, ago: 8, dic: 12 };
const MONTH = '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?'
  + '|enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)\\b\\.?';
const YEAR = '((?:19|20)\\d{2})(?!\\d)';

/** Every quantifier is bounded, so that the search takes time in proportion to the text. */
const DATE = new RegExp([
  `\\b(${MONTH})\\s{1,2}(\\d{1,2})(?:st|nd|rd|th)?,?\\s{1,2}${YEAR}`,
  `\\b(\\d{1,2})(?:st|nd|rd|th)?\\s{1,2}(?:de\\s{1,2}|of\\s{1,2})?(${MONTH}),?\\s{1,2}(?:de(?:l)?\\s{1,2})?${YEAR}`,
  `(?<!\\d)((?:19|20)\\d{2})-(\\d{2})-(\\d{2})(?!\\d)`,
  `(?<![\\d/])(\\d{1,2})/(\\d{1,2})/${YEAR}`,
].join('|'), 'gi');

/** Returns the dates of a text that have a year. Numbers are in the order of the United States: month, day, year. */
export function findDates(text: string, base = 0): FoundDate[] {
  const found: FoundDate[] = [];
  for (const match of text.matchAll(DATE)) {
    const [whole, month1, day1, year1, day2, month2, year2, isoYear, isoMonth, isoDay, month4, day4, year4] = match;
    const name = month1 ?? month2;
    const month = name ? monthOf(name) : Number(isoMonth ?? month4);
    const day = dayText(Number(year1 ?? year2 ?? isoYear ?? year4), month, Number(day1 ?? day2 ?? isoDay ?? day4));
    if (day) found.push({ day, start: base + match.index, end: base + match.index + whole.length });
  }
  return found;
}

function monthOf(name: string): number {
  const short = name.slice(0, 3).toLowerCase();
  return SPANISH[short] ?? MONTHS.indexOf(short) + 1;
}

function dayText(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.toISOString().slice(0, 10) : null;
}
