import type { Block, Document, Range } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import { fold } from './tree.ts';

/** Builds the text and the blocks of documents that are not HTML. */
export interface Lines {
  /** Adds a block; returns its range. An empty text adds nothing. */
  add(tag: string, text: string): Range;
  readonly length: number;
  parts(): Pick<Document, 'text' | 'blocks' | 'main'>;
}

export function createLines(cut: Cut): Lines {
  const blocks: Block[] = [];
  const texts: string[] = [];
  let length = 0;

  return {
    get length() { return length; },
    add(tag, given) {
      const left = blocks.length < LIMITS.blocks ? Math.max(0, LIMITS.text - length) : 0;
      const text = given.slice(0, left).split('\n').map(fold).filter(Boolean).join('\n');
      if (given.length > left) cut.truncated = true;
      if (text === '') return { start: length, end: length };
      const start = length === 0 ? 0 : length + 1;
      texts.push(text);
      length = start + text.length;
      blocks.push({ tag, text, start, end: length, depth: 0, group: null, item: null, classes: [], links: [], time: null });
      return { start, end: length };
    },
    parts: () => ({ text: texts.join('\n'), blocks, main: length > 0 ? { start: 0, end: length } : null }),
  };
}

/** Returns one range from the first to the last. */
export function spanOf(ranges: Range[], at: number): Range {
  const filled = ranges.filter(({ start, end }) => end > start);
  return filled.length > 0 ? { start: filled[0]!.start, end: filled.at(-1)!.end } : { start: at, end: at };
}
