import { cleanPlace, isAddress, isPlace, placeInSentence } from '../text/places.ts';
import { blank, cleanTitle } from '../text/titles.ts';
import { isDocumentTitle } from '../text/words.ts';
import { placeAfterLabel } from './general.ts';
import type { Line } from './lines.ts';
import type { Record } from './records.ts';
import type { Page } from './rows.ts';

const COLUMN = /\b(?:location|place|where|venue|address)\b/i;

/** Returns where a meeting is: a column, a labelled line, a line with an address, the sentence of the date, or the place of all meetings. */
export function placeOf({ lines, headers, general, isSingle }: Page, { at, date, from, to, isClosed }: Record): string | null {
  const own = lines.slice(from, to);
  return byColumn(own, headers)
    ?? own.map((_, index) => placeAfterLabel(lines.slice(0, to), from + index)).find(Boolean)
    ?? inLine(lines[at]!, date.end)
    ?? inLines(own.filter((line) => line !== lines[at]), isClosed)
    ?? general.place
    ?? (isSingle ? nearby(lines, to) : null);
}

const NEARBY = 12;

/** The page of one meeting has its place below the date, also under a heading. */
function nearby(lines: Line[], from: number): string | null {
  return inLines(lines.slice(from, from + NEARBY).filter(({ isMain }) => isMain), true);
}

function byColumn(own: Line[], headers: string[][]): string | null {
  const row = own[0]!.row;
  const column = row === null ? -1 : (headers[row] ?? []).findIndex((text) => COLUMN.test(text));
  return column < 0 ? null : cleanPlace(own.filter((line) => line.column === column).map(({ text }) => text).join(', ')) || null;
}

function inLine(line: Line, from: number): string | null {
  const sentence = placeInSentence(line.text);
  if (sentence) return sentence;
  const rest = cleanTitle(blank(line.text, [...line.dates, ...line.times]).slice(from));
  return !line.isProse && isPlace(rest) && !isDocumentTitle(rest) && !/\bmeetings?\b|\bcommittee\b/i.test(rest.replace(/virtual meeting/i, '')) ? cleanPlace(rest) : null;
}

/** Joins the first lines that follow each other and look like a place. */
function inLines(others: Line[], isClosed: boolean): string | null {
  const parts: string[] = [];
  for (const line of others) {
    const isCity = parts.length > 0 && isClosed && /^[A-Z][a-z]+(?: [A-Z][a-z]+)?$/.test(line.text);
    if (isPlaceLine(line, isCity)) parts.push(line.text.replace(/^(?:meeting|hearing) location\s*/i, ''));
    else if (parts.length > 0) break;
    if (parts.length === 4) break;
  }
  return parts.length > 0 ? cleanPlace(parts.join(', ')) : null;
}

/** `Board Room` is a place, `Board Meeting` at a place is not, and neither is a link to a file. */
function isPlaceLine({ text, links, isProse, dates }: Line, isCity: boolean): boolean {
  if (isProse || dates.length > 0 || text.length > 120 || isDocumentTitle(text) || (links.length > 0 && !isAddress(text))) return false;
  const isMeeting = /\b(?:meeting|committee|hearing) (?!location|room)/i.test(text.replace(/zoom meeting|virtual meeting/i, ''));
  return !isMeeting && (isPlace(text) || isAddress(text) || isCity);
}
