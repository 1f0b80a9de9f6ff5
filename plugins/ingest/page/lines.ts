import type { Document, Link } from 'civic/reader';
import { findDates, type FoundDate } from '../text/dates.ts';
import { findTimes, type FoundTime } from '../text/times.ts';
import { blank } from '../text/titles.ts';

/** A line or a sentence of a document: what one meeting is written in, or a part of it. */
export interface Line {
  text: string;
  start: number;
  end: number;
  dates: FoundDate[];
  times: FoundTime[];
  links: Link[];
  /** From 1 for `h1`; null when the line is no heading. */
  level: number | null;
  /** The line is a sentence of a longer text. */
  isProse: boolean;
  /** The line is in the main content. */
  isMain: boolean;
  group: number | null;
  item: number | null;
  /** The row of a table, numbered over all tables, and its column; null outside of tables. */
  row: number | null;
  column: number | null;
  /** The number of the block, and its element. */
  block: number;
  tag: string;
}

/** Names of columns, for tables whose first row is no header element. */
const COLUMN = /^\W{0,3}(?:(?:meeting|principal|start|event) )?(?:date|time|date\/time|name|title|location|place|agenda|minutes|comments|type|categor(?:y|ies)|documents?|attachments?|description)s?\W{0,3}$/i;
const LONGEST_LINE = 220;
const LONGEST_SENTENCE = 1000;
const MOST_LINES = 20_000;
const MOST_DATES = 10_000;

/** Splits the blocks of a document at line breaks, and long lines into sentences. */
export function linesOf(document: Document): Line[] {
  const cells = createCells(document);
  const lines: Line[] = [];
  let found = 0;
  for (const [number, block] of document.blocks.entries()) {
    const level = /^h[1-6]$/.test(block.tag) ? Number(block.tag[1]) : null;
    let nextLink = 0;
    for (const { text, start, isProse } of pieces(joinDays(block.text), block.start)) {
      if (lines.length >= MOST_LINES || found >= MOST_DATES) return lines;
      const end = start + text.length;
      while (nextLink < block.links.length && block.links[nextLink]!.end <= start) nextLink++;
      let lastLink = nextLink;
      while (lastLink < block.links.length && block.links[lastLink]!.start < end) lastLink++;
      const dates = findDates(text);
      found += dates.length;
      lines.push({
        text, start, end, dates, times: findTimes(blank(text, dates)), links: block.links.slice(nextLink, lastLink), level, isProse,
        isMain: !document.main || (start >= document.main.start && end <= document.main.end), group: block.group, item: block.item, block: number, tag: block.tag, ...cells.at(start),
      });
    }
  }
  return lines;
}

/** Some calendars write the day above the month. */
function joinDays(text: string): string {
  return text.replaceAll(/(?<=^|\n)(\d{1,2})\n(?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}(?:\n|$))/gi, '$1 ');
}

function* pieces(text: string, start: number): Generator<{ text: string; start: number; isProse: boolean }> {
  let at = 0;
  for (const line of text.split('\n')) {
    if (line.length <= LONGEST_LINE) {
      if (line.trim()) yield { text: line, start: start + at, isProse: false };
    } else {
      for (const sentence of sentences(line)) yield { ...sentence, start: start + at + sentence.start, isProse: true };
    }
    at += line.length + 1;
  }
}

const SENTENCE_END = /(?<!\b(?:St|Ave|Rd|Blvd|Dr|Ste|Rm|Fl|Mr|Ms|Mrs|No|Jr|Sr|Rev|Hon|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|[A-Z]))[.!?]\s+(?=[A-Z“"])/g;

function* sentences(line: string): Generator<{ text: string; start: number }> {
  const ends = [...line.matchAll(SENTENCE_END)].map(({ index, 0: end }) => index + end.length);
  let from = 0;
  for (const end of [...ends, line.length]) {
    for (let at = from; at < end; at += LONGEST_SENTENCE) yield { text: line.slice(at, Math.min(end, at + LONGEST_SENTENCE)), start: at };
    from = end;
  }
}

/** Finds the cell of a table that a position is in. */
function createCells({ tables }: Document): { at(position: number): Pick<Line, 'row' | 'column'> } {
  const cells: { start: number; end: number; row: number; column: number }[] = [];
  let row = 0;
  for (const table of tables) {
    for (const { cells: given } of table.rows) {
      for (const [column, { start, end }] of given.entries()) if (end > start) cells.push({ start, end, row, column });
      row++;
    }
  }
  // A cell that spans columns or rows is repeated; the first one counts. Lines come in order, so one pass is enough.
  cells.sort((left, right) => left.start - right.start || left.row - right.row || left.column - right.column);
  let next = 0;
  return {
    at(position) {
      while (next < cells.length && cells[next]!.end <= position) next++;
      const cell = cells[next];
      return cell && cell.start <= position ? { row: cell.row, column: cell.column } : { row: null, column: null };
    },
  };
}

/**
 * Returns the headers of the columns by row, numbered as in `linesOf`. A table with a table inside, such as that of its pages, is no table of the
 * document; its cells below header cells get the next numbers here.
 */
export function headersByRow({ tables }: Document, lines: Line[]): string[][] {
  const headers = tables.flatMap(({ header, rows }) => {
    const texts = header.length > 0 ? header : rows[0]?.cells.map(({ text }) => text.slice(0, 60)) ?? [];
    return rows.map(() => header.length > 0 || texts.filter((text) => COLUMN.test(text)).length >= 2 ? texts : []);
  });
  let header: string[] = [];
  for (const [at, line] of lines.entries()) {
    const before = lines[at - 1];
    if (line.row !== null || (line.tag !== 'th' && line.tag !== 'td')) header = [];
    else if (line.tag === 'th') header = before?.tag === 'th' ? [...header, line.text] : [line.text];
    else if (header.filter((text) => COLUMN.test(text)).length >= 2 && line.item !== null) {
      const isSameRow = before?.tag === 'td' && before.item === line.item && before.group === line.group;
      if (!isSameRow) headers.push(header);
      line.row = headers.length - 1;
      line.column = isSameRow ? before.column! + Number(before.block !== line.block) : 0;
    }
  }
  return headers;
}
