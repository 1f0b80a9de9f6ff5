/** A quotation from a text, with its range there. */
export interface Passage {
  excerpt: string;
  locator: { start: number; end: number };
}

const AROUND = 100;
const LONGEST = 1000;
/** Characters that a database cannot store. */
const NOT_STORED = /[\0\p{Surrogate}]/u;

/** Returns where a text has a name as whole words; -1 where it does not. */
export function indexOfWords(text: string, name: string): number {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) && !/^[\p{L}\p{N}]/u.test(text.slice(at + name.length, at + name.length + 2))) return at;
  }
  return -1;
}

/** Returns a range of a text with the words around it on the same line. Returns null when the passage has characters that a database cannot store. */
export function passageAround(text: string, start: number, end: number): Passage | null {
  const last = Math.min(end, start + LONGEST);
  const before = /\s(\S[^\n]*)$/.exec(text.slice(Math.max(0, start - AROUND), start))?.[1]!.length ?? 0;
  const after = /^([^\n]*\S)\s/.exec(text.slice(last, last + AROUND))?.[1]!.length ?? 0;
  const passage = text.slice(start - before, last + after);
  if (NOT_STORED.test(passage)) return null;
  const excerpt = passage.trim();
  const from = start - before + passage.length - passage.trimStart().length;
  return { excerpt, locator: { start: from, end: from + excerpt.length } };
}
