import type { FoundDate } from '../text/dates.ts';
import { isAddress, isPlace } from '../text/places.ts';
import { namingWords } from '../text/words.ts';
import type { Line } from './lines.ts';

/** The lines that tell about one date: `lines[from]` to before `lines[to]`. */
export interface Record {
  /** The line with the date. */
  at: number;
  date: FoundDate;
  from: number;
  to: number;
  /** The lines are a row, a list item or a card of their own, not only what follows the date. */
  isClosed: boolean;
  /** The end of the lines before further records of the day were joined to it. */
  head: number;
}

const ANNOUNCEMENT = /\b(?:will be held|will meet|has been|is scheduled)\b/i;
const MOST_LINES = 12;
const MOST_FOLLOWING = 6;

/** Finds the dates of a document that may be those of meetings, each with its lines. */
export function recordsOf(lines: Line[], isDateLine: (line: Line) => boolean): Record[] {
  const dated = lines.map((line) => line.dates.length > 0 && isDateLine(line));
  const spans = [spansBy(lines, ({ row }) => row), spansBy(lines, ({ group, item }) => group === null ? null : `${group}/${item}`), spansBy(lines, ({ group }) => group), spansBy(lines, ({ block }) => block)];
  const records: Record[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (!dated[at]) continue;
    const dates = distinct(lines[at]!.dates);
    const span = dates.length === 1 ? spans.map((byLine) => byLine[at]).find((one) => one && isOneMeeting(lines, one)) : undefined;
    const following = followingEnd(lines, dated, at);
    for (const date of dates) {
      const { from, to } = span ?? { from: at, to: dates.length > 1 ? at + 1 : following };
      records.push({ at, date, from, to, head: to, isClosed: span !== undefined });
    }
    if (span) at = Math.max(at, span.to - 1);
  }
  return records;
}

interface Span { from: number; to: number }

/** Returns for each line the run of lines with the same value around it. */
function spansBy(lines: Line[], valueOf: (line: Line) => string | number | null): (Span | null)[] {
  const spans: (Span | null)[] = [];
  for (let from = 0; from < lines.length;) {
    const value = valueOf(lines[from]!);
    let to = from + 1;
    while (value !== null && to < lines.length && valueOf(lines[to]!) === value) to++;
    const span = value === null ? null : { from, to };
    for (let at = from; at < to; at++) spans.push(span);
    from = to;
  }
  return spans;
}

function isOneMeeting(lines: Line[], { from, to }: Span): boolean {
  return to - from > 1 && to - from <= MOST_LINES && distinct(lines.slice(from, to).flatMap(({ dates }) => dates)).length === 1;
}

/**
 * Joins a record to the one before it when both are of one day and the later has no title of its own: an announcement below its heading, or a link to
 * the agenda that repeats the date.
 */
export function joinRecords(lines: Line[], records: Record[]): Record[] {
  const joined: Record[] = [];
  for (const record of records) {
    const last = joined.at(-1);
    if (last && isSameDay(last.date, record.date) && record.from >= last.from && record.to - last.from <= 2 * MOST_LINES && !isAnother(lines, last, record)) {
      joined[joined.length - 1] = { ...last, date: last.date.year === null ? { ...last.date, year: record.date.year } : last.date, to: Math.max(last.to, record.to) };
    } else joined.push(record);
  }
  return joined;
}

function isSameDay(left: FoundDate, right: FoundDate): boolean {
  return left.month === right.month && left.day === right.day && (left.year === right.year || left.year === null || right.year === null);
}

/** A title with words that the record before it does not have is that of another meeting. */
function isAnother(lines: Line[], before: Record, { at, from, to, isClosed }: Record): boolean {
  const line = lines[at]!;
  if (line.isProse || (line.links.length === 0 && ANNOUNCEMENT.test(line.text))) return false;
  const isFile = line.links.length > 0 && /\b(?:agenda|minutes|notice|packet|video|presentation)s?\b|\.pdf\b/i.test(line.text);
  if (!isFile && isClosed && before.isClosed && line.group !== null && line.group === lines[before.at]!.group) return true;
  const known = new Set(lines.slice(Math.max(0, before.from - 1), before.to).flatMap(({ text }) => namingWords(text)));
  const named = isClosed && !isFile ? lines.slice(from, to).filter(({ text, links }) => links.length === 0 && !isPlace(text) && !isAddress(text)) : [line];
  const own = named.flatMap(({ text }) => namingWords(text)).filter((word) => !/^(?:pdf|revised|amended|draft|final|committee|board|am|pm|a|p|m)$/.test(word));
  return own.some((word) => !known.has(word));
}

/** Lines belong to the date before them until the next date, a heading or the end of the list or table. */
function followingEnd(lines: Line[], dated: boolean[], at: number): number {
  const { isMain, row, column } = lines[at]!;
  const isFollowing = (line: Line) => line.level === null && line.isMain === isMain && line.row === row && line.column === column;
  let to = at + 1;
  while (to < lines.length && to <= at + MOST_FOLLOWING && !dated[to] && isFollowing(lines[to]!)) to++;
  return to;
}

function distinct(dates: FoundDate[]): FoundDate[] {
  const seen = new Map<string, FoundDate>();
  for (const date of dates) {
    const key = `${date.month}-${date.day}`;
    const known = seen.get(key);
    if (!known || (known.year === null && date.year !== null)) seen.set(key, date);
  }
  return [...seen.values()];
}
