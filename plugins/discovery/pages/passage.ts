/** A passage of a page, with the value that it states. */
export interface Passage {
  before: string;
  marked: string;
  after: string;
}

/** Returns a passage in three parts, of which the second is the value, where the passage has it literally. */
export function markedPassage(excerpt: string | null, value: string): Passage {
  const at = excerpt === null || value === '' ? -1 : excerpt.indexOf(value);
  if (at < 0) return { before: excerpt ?? '', marked: '', after: '' };
  return { before: excerpt!.slice(0, at), marked: value, after: excerpt!.slice(at + value.length) };
}

export interface Range {
  start: number;
  end: number;
}

/** Returns a text in pieces, of which those inside the ranges are marked. */
export function markedPieces(text: string, ranges: Range[]): { text: string; isMarked: boolean }[] {
  const pieces: { text: string; isMarked: boolean }[] = [];
  let at = 0;
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(start, at);
    if (end <= from) continue;
    pieces.push({ text: text.slice(at, from), isMarked: false }, { text: text.slice(from, end), isMarked: true });
    at = end;
  }
  return [...pieces, { text: text.slice(at), isMarked: false }].filter((piece) => piece.text !== '');
}
