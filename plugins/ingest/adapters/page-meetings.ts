import type { Document } from 'civic/reader';
import type { FoundDate } from '../text/dates.ts';
import { joinRows, meetingRow, MOST_ROWS, uniqueDocuments } from '../text/meeting.ts';
import { oneOf } from '../text/pattern.ts';
import { titleWithoutDates } from '../text/titles.ts';
import { MEETING, namingWords } from '../text/words.ts';
import { dayText, localTimeAt } from '../text/zone.ts';
import { generalOf } from '../page/general.ts';
import { gridRows } from '../page/grid.ts';
import { headingsOf, type Headings } from '../page/headings.ts';
import { headersByRow, linesOf, type Line } from '../page/lines.ts';
import { joinRecords, recordsOf, type Record } from '../page/records.ts';
import { rowOf, type Page } from '../page/rows.ts';
import type { Adapter, AdapterContext, MeetingRow } from './types.ts';

const OTHER_EVENTS = 'posted, updated, modified, published, adopted, approved, approval of, established, passed, effective, expires?, hired, copyright, submitted, signed, created, minutes of, registration, opens';
const LIMITS = 'deadline, due, dated, by, as of, since, until, through, before, after, prior to, open';
/** Words before a date that is not the date of a meeting. */
const OTHER_DATE = new RegExp(`(?:\\b${oneOf(OTHER_EVENTS)}\\b|©)[^.;]{0,110}$|\\b${oneOf(LIMITS)}\\b[^.;]{0,15}$`, 'i');
const STRONG = /\b(?:meetings?|mtgs?|hearings?|agendas?|minutes|session)\b/i;
const ANNOUNCEMENT = new RegExp(`\\b${oneOf(`
  will (?:be held|meet|convene|hold|take place), (?:is|are|been) (?:re)?scheduled, has scheduled, scheduled for, join us, held on
  meeting (?:on|will|is|date), (?:next|annual|special|regular) meeting, hearing (?:on|will)
`)}\\b`, 'i');

/** Reads meetings from lists, tables and sentences of ordinary pages and PDF files. */
export const pageMeetings: Adapter = {
  name: 'page_meetings',
  label: 'Page with meetings',
  source_class: 'government_record',
  recognises(document) {
    if (document.kind !== 'html' && document.kind !== 'pdf' && document.kind !== 'text') return 0;
    const { page, records } = readRecords(document);
    return records.length > 0 || gridRows(page, 'UTC').length > 0 ? 0.4 : 0;
  },
  rows: (document, context) => meetingsOf(document, context),
};

export function meetingsOf(document: Document, context: AdapterContext): MeetingRow[] {
  const { page, records } = readRecords(document);
  const found = records.flatMap((record) => rowOf(page, record, context) ?? []);
  const rows = page.isSingle ? asOne(found.map(({ row }) => row), page) : withoutRepeated(found, context.time_zone);
  return joinRows([...rows, ...gridRows(page, context.time_zone)]);
}

/** A list of agendas repeats the days of meetings whose time and name stand above it. */
function withoutRepeated(found: { row: MeetingRow; isNamed: boolean }[], zone: string): MeetingRow[] {
  const timed = new Map<string, MeetingRow[]>();
  for (const { row } of found) {
    if (row.start!.length === 10) continue;
    const day = dayText(localTimeAt(Date.parse(row.start!), zone));
    timed.set(day, [...timed.get(day) ?? [], row]);
  }
  return found.flatMap(({ row, isNamed }) => {
    const [same, ...others] = timed.get(row.start!) ?? [];
    if (isNamed || !same || others.length > 0) return [row];
    same.documents = uniqueDocuments([...same.documents, ...row.documents]);
    return [];
  });
}

/** The page of one meeting repeats its date: in the title, beside the time, and in the names of files. */
function asOne(rows: MeetingRow[], { lines }: Page): MeetingRow[] {
  const timed = rows.filter(({ start }) => start!.length > 10);
  const [row] = timed;
  if (!row || new Set(timed.map(({ start }) => start)).size > 1) return rows;
  const headings = lines.filter(({ level, isMain, text }) => level !== null && level <= 2 && isMain && text.length <= 160 && STRONG.test(text) && namingWords(text).length > 0);
  const heading = headings.find(({ dates }) => dates.length > 0) ?? (STRONG.test(row.title) ? undefined : headings[0]);
  const title = heading ? titleWithoutDates(heading.text) : row.title;
  return [meetingRow({ ...row, title, location: row.location ?? rows.map(({ location }) => location).find(Boolean) ?? null, documents: uniqueDocuments(rows.flatMap(({ documents }) => documents)) })];
}

interface Read { page: Page; records: Record[] }

/** A document is recognised and then read. */
const known = new WeakMap<Document, Read>();

function readRecords(document: Document): Read {
  const read = known.get(document) ?? recordsIn(document);
  known.set(document, read);
  return read;
}

function recordsIn(document: Document): Read {
  const lines = linesOf(document);
  const headers = headersByRow(document, lines);
  const found = recordsOf(lines, (line) => line.dates.some((date) => isMeetingDate(line, date)));
  const closed = linesIn(found.filter(({ isClosed }) => isClosed));
  const headings = headingsOf(document, lines, (at) => closed.has(at));
  const records = joinRecords(lines, found.filter((record) => hasContext(lines, record, headings))).slice(0, MOST_ROWS);
  const taken = linesIn(records);
  const isTaken = (at: number) => taken.has(at);
  return { page: { document, lines, headings, headers, general: generalOf(lines, isTaken), isTaken, isSingle: new Set(records.map(({ date }) => `${date.month}-${date.day}`)).size === 1 }, records };
}

function linesIn(records: Record[]): Set<number> {
  return new Set(records.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index)));
}

function isMeetingDate({ text, isProse, dates }: Line, { start, end }: FoundDate): boolean {
  // The year of a shortened line is unknown.
  if (/^,?\s?(?:…|\.{3})/.test(text.slice(end, end + 5)) || isBreadcrumb(text) || OTHER_DATE.test(text.slice(Math.max(0, start - 120), start))) return false;
  if (!isProse && text.length <= 140) return true;
  return dates.length <= 3 && ANNOUNCEMENT.test(text);
}

/** `Home » Events » Board Meeting` */
function isBreadcrumb(text: string): boolean {
  return /^.{1,60}\s[»›>]\s/.test(text);
}

/** The page is about meetings, or the record is. Outside of the main content, where news and menus are, the record or its heading must say so. */
function hasContext(lines: Line[], { at, from, to }: Record, headings: Headings): boolean {
  const nearest = headings.nearest(at) ?? '';
  if (/^\W*(?:news|alerts|press|tweets|recent posts)\b/i.test(nearest) || /^\W*end\b/i.test(lines[from]!.text)) return false;
  const own = lines.slice(Math.max(0, from - 1), lines[at]!.isMain ? to : at + 1).map(({ text }) => text).join(' ').slice(0, 1000);
  return lines[at]!.isMain ? MEETING.test(own) || headings.above(at).some((heading) => MEETING.test(heading)) : STRONG.test(own) || STRONG.test(nearest);
}
