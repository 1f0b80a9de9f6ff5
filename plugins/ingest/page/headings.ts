import type { Document } from 'civic/reader';
import { findYears } from '../text/dates.ts';
import { cleanTitle } from '../text/titles.ts';
import { isPlaceOnly, labelledPlace } from '../text/places.ts';
import { isDocumentTitle, MEETING, namingWords } from '../text/words.ts';
import type { Line } from './lines.ts';

export interface Headings {
  /** The headings above a line, nearest first, then the title of the page. */
  above(at: number): string[];
  /** The heading next above a line that is not only a year; null without one. */
  nearest(at: number): string | null;
  /** The year that the headings above a line state. */
  yearAbove(at: number): number | null;
}

/** Finds the headings of lines, also short lines before a list of dates that are no heading elements. */
export function headingsOf(document: Document, lines: Line[], isInRecord: (at: number) => boolean): Headings {
  const above: string[][] = [];
  const years: (number | null)[] = [];
  const open: { level: number; text: string; year: number | null }[] = [];
  const pageTitles = titlesOf(document);
  const pageYear = pageTitles.map(onlyYear).find((year) => year !== null) ?? null;
  let lastYear: number | null = null;
  for (const [at, line] of lines.entries()) {
    const level = line.level ?? (isYear(line.text) ? 8 : !isInRecord(at) && isLikeHeading(lines, at) ? 7 : null);
    if (level !== null && line.dates.length === 0) {
      while (open.length > 0 && open.at(-1)!.level >= level) open.pop();
      open.push({ level, text: line.text.slice(0, 200), year: onlyYear(line.text) });
    }
    if (line.dates.length === 0 && line.text.length <= 120 && (level !== null || MEETING.test(line.text) || /^\W{0,2}(?:19|20)\d{2}/.test(line.text))) lastYear = onlyYear(line.text) ?? lastYear;
    above.push(open.map(({ text }) => text).reverse());
    years.push(open.findLast(({ year }) => year !== null)?.year ?? pageYear ?? lastYear);
  }
  return { nearest: (at) => above[at]!.find((text) => !isYear(text)) ?? null, above: (at) => [...above[at]!, ...pageTitles], yearAbove: (at) => years[at]! };
}

/** The name of a page stands before the name of the site, or after it. */
function titlesOf({ title, site_name: site }: Document): string[] {
  const parts = (title ?? '').slice(0, 300).split(/\s+(?:\||–|—|::|»|-)\s+/).map(cleanTitle).filter(Boolean);
  return [...new Set([...parts, ...(site ? [site] : [])])];
}

function onlyYear(text: string): number | null {
  const years = [...new Set(findYears(text))];
  return years.length === 1 ? years[0]! : null;
}

/** `2019 Meetings:` or `Committee Dates` before a line with a date. */
function isLikeHeading(lines: Line[], at: number): boolean {
  const { text, dates, row, isProse, times } = lines[at]!;
  if (isProse || text.length > (/:\s*$/.test(text) ? 160 : 90) || dates.length > 0 || times.length > 0 || /[.!?]$/.test(text)) return false;
  const next = lines.slice(at + 1, at + 4).find(({ dates: found }) => found.length > 0);
  if (next === undefined || (row !== null && next.row === row) || /\b(?:are|is|will|be|has|have|please|listed)\b|\bno meetings?\b/i.test(text) || labelledPlace(text) !== null) return false;
  return (/:\s*$/.test(text) || MEETING.test(text)) && !isDocumentOf(lines[at]!) && !isPlaceOnly(text);
}

function isYear(text: string): boolean {
  return /^\W{0,2}(?:19|20)\d{2}\W{0,2}$/.test(text);
}

/** An agenda below the date before is no heading of the date after; `2018 Agendas` is one. */
function isDocumentOf({ text, links }: Line): boolean {
  return isDocumentTitle(text) && findYears(text).length === 0 && !(links.length === 0 && /\b(?:agendas|notices|schedules|dates)\b/i.test(text));
}

/** Returns the first heading that names a body or a kind of meeting. */
export function nameFrom(headings: string[]): string | null {
  const name = headings.find((heading) => heading.length <= 160 && namingWords(heading).length > 0 && MEETING.test(heading)) ?? headings.find((heading) => heading.length <= 160 && namingWords(heading).length > 0);
  return name === undefined ? null : cleanTitle(name.replace(/\s*\b(?:19|20)\d{2}\b(?:\s*[-–]\s*(?:19|20)?\d{2}\b)?\s*/g, ' '));
}
