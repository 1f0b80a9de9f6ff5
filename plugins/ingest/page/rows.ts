import type { Document } from 'civic/reader';
import type { AdapterContext, MeetingRow } from '../adapters/types.ts';
import { startOf, weekdayOf, type LocalTime } from '../text/zone.ts';
import { findYears, type FoundDate } from '../text/dates.ts';
import type { FoundTime } from '../text/times.ts';
import { statusOf } from '../text/status.ts';
import { meetingRow, uniqueDocuments } from '../text/meeting.ts';
import { documentsOf } from './documents.ts';
import type { General } from './general.ts';
import type { Headings } from './headings.ts';
import type { Line } from './lines.ts';
import { placeOf } from './place.ts';
import type { Record } from './records.ts';
import { titleOf } from './title.ts';

export interface Page {
  document: Document;
  lines: Line[];
  headings: Headings;
  headers: string[][];
  general: General;
  /** Lines that belong to a record. */
  isTaken(at: number): boolean;
  /** All records are of one day: the page is about one meeting. */
  isSingle: boolean;
}

/** Returns the meeting that a record describes, and whether the record names it; null when its year is unknown. */
export function rowOf(page: Page, record: Record, { time_zone: zone, now }: AdapterContext): { row: MeetingRow; isNamed: boolean } | null {
  const day = dayOf(page, record, now);
  if (!day) return null;
  const { lines, document, headings } = page;
  const own = lines.slice(record.from, record.to);
  const time = timeOf(page, record);
  const from: LocalTime = time ? { ...day, hour: time.hour, minute: time.minute } : day;
  const documents = uniqueDocuments(own.flatMap(documentsOf));
  const { title, isNamed } = titleOf(page, record);
  const row = meetingRow({
    title, body: bodyOf(headings.above(record.at), page.general.body), start: startOf(from, zone),
    end: time?.until ? startOf({ ...day, ...time.until }, zone) : null, location: placeOf(page, record),
    status: statusOf(...statusTexts(lines[record.at]!, own, record)),
    url: document.url, documents, passage: { start: own[0]!.start, end: own.at(-1)!.end },
  });
  return { row, isNamed };
}

const MONTH = /\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|\bMay\b/i;

/** `December meeting canceled` below a date of November is not about it. */
function statusTexts(line: Line, own: Line[], { isClosed }: Record): string[] {
  const others = own.filter((other) => other !== line && !MONTH.test(other.text));
  return [line.text, ...(isClosed ? others : others.filter(({ text }) => text.length < 60).slice(0, 3)).map(({ text }) => text)];
}

const BODY = /\b(?:board|commission|committee|council|authority|trustees|task force|district|agency|court)\b/i;

function bodyOf(headings: string[], general: string | null): string | null {
  return headings.find((heading) => heading.length <= 120 && BODY.test(heading) && !/meeting|agenda|minutes|schedule|calendar/i.test(heading)) ?? general;
}

function dayOf({ lines, headings }: Page, { at, date, from, to, isClosed }: Record, now: number): LocalTime | null {
  if (date.year !== null) return { year: date.year, month: date.month, day: date.day };
  const own = isClosed ? lines.slice(from, to).map(({ text }) => text).join(' ') : lines[at]!.text;
  // Lines of a PDF break inside of dates.
  const broken = lines[at]!.tag === 'line' && date.end >= lines[at]!.text.trimEnd().length - 1 ? /^\s*((?:19|20)\d{2})\b/.exec(lines[at + 1]?.text ?? '')?.[1] : undefined;
  const year = findYears(own)[0] ?? (broken ? Number(broken) : headings.yearAbove(at));
  if (year !== null) return onWeekday({ year, month: date.month, day: date.day }, date);
  // Pages without a year tell about the meetings of the next months, or of the last.
  const current = new Date(now).getUTCFullYear();
  const days = [current, current + 1, current - 1].map((one) => ({ year: one, month: date.month, day: date.day })).filter((day) => date.weekday === null || weekdayOf(day) === date.weekday);
  return days.sort((left, right) => distance(left, now) - distance(right, now))[0] ?? null;
}

function distance({ year, month, day }: LocalTime, now: number): number {
  return Math.abs(Date.UTC(year, month - 1, day) - now);
}

/** A heading of last year stays over the dates of the new one; the day of the week shows it. */
function onWeekday(day: LocalTime, { weekday }: FoundDate): LocalTime {
  if (weekday === null) return day;
  return [day, { ...day, year: day.year + 1 }, { ...day, year: day.year - 1 }].find((one) => weekdayOf(one) === weekday) ?? day;
}

function timeOf({ lines, general }: Page, { at, date, from, to, isClosed }: Record): FoundTime | null {
  const line = lines[at]!;
  const inLine = line.times.find(({ start }) => start >= date.end) ?? (line.dates.length === 1 ? line.times[0] : undefined);
  if (inLine) return inLine;
  const others = lines.slice(from, to).filter((other) => other !== line && (isClosed || other.text.length <= 80 || other.dates.some(({ month, day }) => month === date.month && day === date.day)));
  const labelled = others.find(({ text, times }) => times.length > 0 && /^\W{0,3}(?:time|start|when|hora)\b/i.test(text)) ?? others.find(({ times }) => times.length > 0);
  if (labelled) return labelled.times[0]!;
  return /\b(?:following|immediately after|upon adjournment)\b/i.test(lines.slice(from, to).map(({ text }) => text).join(' ').slice(0, 600)) ? null : general.time;
}
