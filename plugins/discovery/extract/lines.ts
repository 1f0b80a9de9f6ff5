import type { Document, Link, Range } from 'civic/reader';
import { isAddress } from './words/labels.ts';
import { isRole } from './words/roles.ts';

/** A line or a sentence of a document, with where it stands. */
export interface Line extends Range {
  text: string;
  number: number;
  tag: string;
  /** From 1 for `h1`; null when the line is no heading. */
  level: number | null;
  /** The line is part of a longer text. */
  isProse: boolean;
  isMain: boolean;
  /** All of the line is the text of links. */
  isLinked: boolean;
  isAddress: boolean;
  isRole: boolean;
  /** The line has a telephone number or an address of e-mail. */
  hasContact: boolean;
  links: Link[];
  block: number;
  group: number | null;
  item: number | null;
  /** Classes and ids in lower case, joined by blanks. */
  classes: string;
  /** The header of the column, in lower case; '' outside of tables. */
  column: string;
}

const LONGEST_LINE = 240;
const LONGEST_SENTENCE = 600;
const MOST_LINES = 20_000;
/** Names after this are left out: the work must end soon also for a very long document. */
export const MOST_TEXT = 500_000;
const CONTACT = /[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?:\(\d{3}\)\s?|\b\d{3}[-. ])\d{3}[-. ]\d{4}\b/;

/** Splits the blocks of a document at line breaks, and long lines into sentences. */
export function linesOf(document: Document): Line[] {
  const columns = createColumns(document);
  const lines: Line[] = [];
  for (const [number, block] of document.blocks.entries()) {
    const classes = block.classes.join(' ').toLowerCase();
    let nextLink = 0;
    for (const { text, start, isProse } of pieces(block.text, block.start)) {
      if (lines.length >= MOST_LINES || start > MOST_TEXT) return lines;
      const end = start + text.length;
      while (nextLink < block.links.length && block.links[nextLink]!.end <= start) nextLink++;
      let lastLink = nextLink;
      while (lastLink < block.links.length && block.links[lastLink]!.start < end) lastLink++;
      const links = block.links.slice(nextLink, lastLink);
      lines.push({
        text, start, end, number: lines.length, tag: block.tag, level: /^h[1-6]$/.test(block.tag) ? Number(block.tag[1]) : null, isProse,
        isMain: !document.main || (start >= document.main.start && end <= document.main.end),
        isLinked: links.reduce((sum, link) => sum + Math.min(link.end, end) - Math.max(link.start, start), 0) >= text.length * 0.9,
        isAddress: !isProse && isAddress(text), isRole: !isProse && isRole(text), hasContact: CONTACT.test(text),
        links, block: number, group: block.group, item: block.item, classes, column: columns.at(start),
      });
    }
  }
  return lines;
}

function* pieces(text: string, start: number): Generator<{ text: string; start: number; isProse: boolean }> {
  let at = 0;
  for (const line of text.split('\n')) {
    if (line.length <= LONGEST_LINE) {
      if (line.trim()) yield { text: line, start: start + at, isProse: line.length > 90 && /[.!?](?:\s|$)/.test(line) };
    } else {
      for (const sentence of sentences(line)) yield { ...sentence, start: start + at + sentence.start, isProse: true };
    }
    at += line.length + 1;
  }
}

const SENTENCE_END = /(?<!\b(?:St|Ave|Rd|Blvd|Dr|Ste|Rm|Fl|Mr|Ms|Mrs|No|Jr|Sr|Rev|Hon|Inc|Ltd|Co|Corp|[A-Z]))[.!?]\s{1,3}(?=[\p{Lu}“"¡¿])/gu;

function* sentences(line: string): Generator<{ text: string; start: number }> {
  let from = 0;
  const ends = [...line.matchAll(SENTENCE_END)].map(({ index, 0: end }) => index + end.length);
  for (const end of [...ends, line.length]) {
    for (let at = from; at < end; at += LONGEST_SENTENCE) yield { text: line.slice(at, Math.min(end, at + LONGEST_SENTENCE)), start: at };
    from = end;
  }
}

/** Finds the header of the column that a position is in. */
function createColumns({ tables }: Document): { at(position: number): string } {
  const cells = tables.flatMap(({ header, rows }) => {
    // Many tables have their header in an ordinary row.
    const names = (header.length > 0 ? header : rows[0]?.cells.map(({ text }) => text) ?? []).map((name) => name.slice(0, 40).toLowerCase());
    return rows.slice(header.length > 0 ? 0 : 1).flatMap(({ cells }) => cells.flatMap(({ start, end }, column) => (end > start ? [{ start, end, name: names[column] ?? '' }] : [])));
  });
  // A cell that spans columns is repeated; the first one counts. Lines come in order, so one pass is enough.
  cells.sort((left, right) => left.start - right.start);
  let next = 0;
  return {
    at(position) {
      while (next < cells.length && cells[next]!.end <= position) next++;
      const cell = cells[next];
      return cell && cell.start <= position ? cell.name : '';
    },
  };
}
