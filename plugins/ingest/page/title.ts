import { findDates } from '../text/dates.ts';
import { findTimes } from '../text/times.ts';
import { isAddress, isPlace, isPlaceOnly, labelledPlace } from '../text/places.ts';
import { blank, cleanTitle, titleWithoutDates } from '../text/titles.ts';
import { isDocumentTitle, MEETING, namingWords } from '../text/words.ts';
import { nameFrom } from './headings.ts';
import type { Line } from './lines.ts';
import type { Record } from './records.ts';
import type { Page } from './rows.ts';

const NAME_COLUMN = /\b(?:meeting(?: name)?|name|title|event|committee|body|board|description|type|subject)\b/i;
const OTHER_COLUMN = /\b(?:dates?|time|location|place|where|agenda|minutes|video|documents?|attachments?|materials|information|comments?|notes?)\b/i;
/** Links to files below a date. */
const ATTACHED = /\b(?:agenda|minutes|notice|packet|report|presentation|metrics|item|letter|documents?)\b/i;
const STATUS = /\b(?:(?:did|does|do) not have (?:a )?quorum|(?:(?:has|have) been )?(?:cancell?ed|postponed|rescheduled)|tentative)\b/i;
const QUALIFIER = /^(?:special|closed|regular|emergency|annual|rescheduled|joint|organizational|virtual)(?: (?:meeting|session|mtg))?$/i;

/** Returns what meets: a column or a line of the record, or the line before it; else the heading above it, and `isNamed` is false. */
export function titleOf(page: Page, record: Record): { title: string; isNamed: boolean } {
  const { lines, headings, headers, general } = page;
  const own = lines.slice(record.from, record.head);
  const line = lines[record.at]!;
  const rest = restOf(line, record);
  const heading = nameFrom([...headings.above(record.at).slice(0, -1), ...(general.body ? [general.body] : []), ...headings.above(record.at).slice(-1)]) ?? 'Meeting';
  if (QUALIFIER.test(rest)) return { title: `${heading} (${rest.toLowerCase()})`, isNamed: true };
  const noticed = noticeTitle(lines.slice(Math.max(0, record.from - 6), record.at + 1));
  if (noticed) return { title: noticed, isNamed: true };
  const title = byColumn(own, headers)
    ?? (isTitle(rest, line) ? rest : null)
    ?? (record.isClosed ? lineTitle(own.filter((one) => one !== line && !isOtherColumn(one, headers))) : null)
    ?? lineBefore(page, record);
  return { title: title ?? heading, isNamed: title !== null };
}

const NOTICE = /\bgiven that (?:the )?(.{3,150}?),? (?:will|shall) (?:hold|conduct|meet|convene)\b(?: an?)?((?: (?:special|closed|regular|public|emergency|annual|virtual)){0,2})/i;

/** Returns the body of `Notice is hereby given that the City Council will hold a special meeting`, which spans lines. */
function noticeTitle(lines: Line[]): string | null {
  const [, body, kind = ''] = NOTICE.exec(lines.map(({ text }) => text).join(' ').slice(0, 1000)) ?? [];
  return body ? cleanTitle(`${body}${kind.trim() ? ` ${kind.trim()} meeting` : ''}`) : null;
}

function isOtherColumn({ row, column }: Line, headers: string[][]): boolean {
  return row !== null && column !== null && OTHER_COLUMN.test(headers[row]?.[column] ?? '');
}

function byColumn(own: Line[], headers: string[][]): string | null {
  const row = own[0]!.row;
  const header = row === null ? [] : headers[row] ?? [];
  for (const wanted of [/meeting name|^name$|title|subject/i, NAME_COLUMN]) {
    const column = header.findIndex((text) => wanted.test(text) && !OTHER_COLUMN.test(text));
    const text = own.filter((line) => line.column === column && column >= 0).map((line) => line.text).join(' ');
    const title = titleWithoutDates(text);
    if (column >= 0 && title && !findDates(title).length && /\p{L}{3}/u.test(title)) return title;
  }
  return null;
}

/** Returns the line without its date, time, links to documents and place. */
function restOf({ text, links, start, times }: Line, { date }: Record): string {
  const documents = links.filter((link) => isDocumentTitle(link.text)).map((link) => ({ start: Math.max(0, link.start - start), end: Math.min(text.length, link.end - start) }));
  const rest = blank(text, [...findDates(text), ...times, ...documents]);
  const sides = [rest.slice(0, date.start), rest.slice(date.end)].map(sideTitle);
  return sides.find((side) => MEETING.test(side) && !isDocumentTitle(side)) ?? sides.find((side) => namingWords(side).length > 0 && !isPlace(side)) ?? '';
}

/** Removes days of the week, empty brackets and the words that join a title to its date. */
function sideTitle(side: string): string {
  const plain = cleanTitle(side.replaceAll(/\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b,?/gi, ' ').replaceAll(/\(\s{0,80}[\s)]/g, ' '));
  return cleanTitle(plain.replaceAll(/^(?:at|on|from|@|and)\b\s*|\s*\b(?:at|on|from|for|is|@)$/gi, '').replace(/^\(([^()]*)\)?$/, '$1'));
}

function isTitle(rest: string, { isProse }: Line): boolean {
  const isLong = rest.length > (isProse ? 120 : 160);
  if (rest.length < 4 || isLong || isDocumentTitle(rest) || isPlace(rest) || /^\W*(?:will|is|are|has|was)\b/i.test(rest)) return false;
  // "meeting canceled" names nothing.
  const isStatus = STATUS.test(rest) && namingWords(rest.replace(STATUS, ' ')).length === 0;
  return (isProse || !isStatus) && (MEETING.test(rest) || namingWords(rest).length > 1);
}

/** A line of a record can be its title unless it is a link to a file, a label, a time, or the middle of a sentence. */
function isUsable({ text, isProse, links }: Line): boolean {
  const isFile = isDocumentTitle(text) || (links.length > 0 && ATTACHED.test(text));
  const isOther = labelledPlace(text) !== null || isOnlyTime(text) || /\bno meetings?\b/i.test(text) || /^\W*(?:will|is|are|has|was|as|that|to|which|held)\b/.test(text);
  return !isProse && text.length <= 160 && /\p{L}{3}/u.test(text) && !isFile && !isOther;
}

function lineTitle(lines: Line[]): string | null {
  const usable = lines.filter(isUsable);
  const found = usable.find(({ text }) => MEETING.test(text) && namingWords(text).length > 0 && !isPlaceOnly(text))
    ?? usable.find(({ text, level }) => (level !== null || MEETING.test(text)) && !isPlaceOnly(text))
    ?? usable.slice(0, 3).find(({ text }) => namingWords(text).length > 1 && !isPlace(text) && !isAddress(text));
  const next = found && usable[usable.indexOf(found) + 1];
  // The name of the body stands above what it does.
  const named = next && found.level === next.level && isBody(found.text) && !isPlace(next.text) && namingWords(next.text).length > 0 ? next : found;
  return named ? titleWithoutDates(named.text) : null;
}

function isBody(text: string): boolean {
  return /\b(?:commission|council|board|authority)\W*$/i.test(text);
}

function isOnlyTime(text: string): boolean {
  return /^[\s\W\d]*$/.test(blank(text, findTimes(text))) || /^\W*(?:date|time|start|end|when)\b.{0,30}$/i.test(text);
}

/** In lists of a title and a date, one below the other, the title comes first. */
function lineBefore({ lines, isTaken }: Page, { from }: Record): string | null {
  const before = lines[from - 1];
  if (!before || isTaken(from - 1) || before.level !== null || before.isProse || before.dates.length > 0 || before.text.length > 120 || before.isMain !== lines[from]!.isMain) return null;
  return MEETING.test(before.text) && namingWords(before.text).length > 0 && !isDocumentTitle(before.text) && !/[.:]$/.test(before.text) && !isPlaceOnly(before.text) ? titleWithoutDates(before.text) : null;
}
