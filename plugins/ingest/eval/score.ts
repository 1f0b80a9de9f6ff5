import type { MeetingRow } from '../adapters/types.ts';
import { findDates } from '../text/dates.ts';
import { foldWords } from '../text/words.ts';
import { dayText, localTimeAt } from '../text/zone.ts';

/** An event that a person found on a page: title, local start, place and status. Null where the page does not state one; several where more than one is right. */
export type Label = [title: string, start: string | string[], place: string | string[] | null, status: 'confirmed' | 'cancelled' | null];

export interface LabelledFile {
  /** Relative to the folder. */
  file: string;
  labels: Label[];
  /** The page has further events without a label. */
  isSample: boolean;
}

export interface FileScore {
  file: string;
  /** The adapter that read the file; null when the file could not be read. */
  adapter: string | null;
  labelled: number;
  /** Labelled events whose day and time are right. */
  start: number;
  /** Of those, with the right title, status and place. */
  title: number;
  status: number;
  place: number;
  /** Events with a labelled place, among those with the right start. */
  placed: number;
  /** Events with everything right. */
  all: number;
  rows: number;
  /** Rows whose day is neither labelled nor written on the page. */
  invented: number;
  /** Rows that no label has; null where the labels are a sample. */
  extra: number | null;
}

/** The share of the labelled events that a file must yield with everything right. */
export const YIELD = 0.8;
/** The share of the files with events that must yield them. */
export const BAR = 0.8;

export function isYield({ all, labelled }: FileScore): boolean {
  return all >= YIELD * labelled;
}

/** Compares the rows of a file with its labels. Each row counts for one label. */
export function scoreFile({ file, labels, isSample }: LabelledFile, adapter: string | null, rows: MeetingRow[], text: string, zone: string): FileScore {
  const score: FileScore = { file, adapter, labelled: labels.length, start: 0, title: 0, status: 0, place: 0, placed: 0, all: 0, rows: rows.length, invented: 0, extra: null };
  const left = new Set(rows);
  for (const label of labels) {
    const candidates = [...left].filter((row) => [label[1]].flat().includes(localStart(row, zone) ?? ''));
    const matches = candidates.map((row) => ({ row, ...compare(row, label) })).sort((one, other) => other.points - one.points);
    const best = matches[0];
    if (!best) continue;
    left.delete(best.row);
    score.start++;
    score.title += Number(best.title);
    score.status += Number(best.status);
    score.placed += Number(label[2] !== null);
    score.place += Number(label[2] !== null && best.place);
    score.all += Number(best.title && best.status && best.place);
  }
  const days = new Set([...labels.flatMap(([, start]) => [start].flat().map((one) => one.slice(0, 10))), ...daysIn(text)]);
  score.invented = rows.filter((row) => !days.has(localStart(row, zone)?.slice(0, 10) ?? '') && !days.has((localStart(row, zone) ?? '').slice(5, 10))).length;
  score.extra = isSample ? null : left.size;
  return score;
}

function compare(row: MeetingRow, [title, , place, status]: Label): { title: boolean; status: boolean; place: boolean; points: number } {
  const found = {
    title: sharesHalf(title, `${row.title} ${row.body ?? ''}`), status: status === null || status === row.status,
    place: place === null || [place].flat().some((one) => sharesHalf(one, row.location ?? '')),
  };
  return { ...found, points: 4 * Number(found.title) + 2 * Number(found.status) + Number(found.place) };
}

const FEW = new Set(['the', 'of', 'and', 'a', 'in', 'at', 'on', 'for']);

/** At least half of the words of the label must be in the text. */
function sharesHalf(label: string, text: string): boolean {
  const words = new Set(foldWords(label).filter((word) => !FEW.has(word)));
  const known = new Set(foldWords(text).map(singular));
  return [...words].filter((word) => known.has(singular(word))).length * 2 >= words.size;
}

function singular(word: string): string {
  return word.replace(/(?<=\p{L}{3})s$/u, '').replace(/^mtg$/, 'meeting');
}

function localStart({ start }: MeetingRow, zone: string): string | null {
  if (start === null || start.length === 10) return start;
  const local = localTimeAt(Date.parse(start), zone);
  return `${dayText(local)}T${String(local.hour).padStart(2, '0')}:${String(local.minute).padStart(2, '0')}`;
}

/** Returns the days that a text names, and `04-20` for those without a year. */
function daysIn(text: string): string[] {
  return text.split('\n').flatMap(findDates).map(({ year, month, day }) => year === null ? dayText({ year: 2000, month, day }).slice(5) : dayText({ year, month, day }));
}
