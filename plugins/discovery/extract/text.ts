import type { Range } from 'civic/reader';

const WORD = /[\p{L}\p{N}]+(?:['’‘`][\p{L}\p{N}]+)*/gu;
/** More occurrences of the rarest word of a name are not compared. */
const MOST_COMPARED = 2000;
const MOST_WORDS = 40;

/** Folds a word: case, accents and apostrophes. */
export function foldWord(word: string): string {
  // Most words are plain, and normalizing costs time.
  return /^[a-z\d]*$/i.test(word) ? word.toLowerCase() : word.normalize('NFKD').toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the folded words of a text. */
export function foldWords(text: string): string[] {
  return text.replaceAll(/[™®©]/g, ' ').match(WORD)?.map(foldWord) ?? [];
}

/** Folds a name: names that differ only in case, accents, spaces or punctuation are the same. */
export function foldName(text: string): string {
  return foldWords(text).join(' ');
}

export interface TextIndex {
  /** Returns where the words of a name follow each other in the text, whatever is between them; null when they do not. */
  find(name: string): Range | null;
  /** Returns how often a folded word begins with a small letter. */
  lowercase(word: string): number;
}

/** Indexes the words of a text once, so that many names can be looked up. */
export function indexText(text: string): TextIndex {
  const words: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const positions = new Map<string, number[]>();
  const small = new Map<string, number>();
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const folded = foldWord(word);
    const known = positions.get(folded);
    if (known) known.push(words.length);
    else positions.set(folded, [words.length]);
    if (/^\p{Ll}/u.test(word)) small.set(folded, (small.get(folded) ?? 0) + 1);
    words.push(folded);
    starts.push(index);
    ends.push(index + word.length);
  }
  const find: TextIndex['find'] = (name) => {
    const wanted = foldWords(name.slice(0, 400)).slice(0, MOST_WORDS);
    if (wanted.length === 0) return null;
    let rarest = 0;
    for (const [at, word] of wanted.entries()) if ((positions.get(word)?.length ?? 0) < (positions.get(wanted[rarest]!)?.length ?? 0)) rarest = at;
    for (const position of (positions.get(wanted[rarest]!) ?? []).slice(0, MOST_COMPARED)) {
      const first = position - rarest;
      if (first >= 0 && wanted.every((word, at) => words[first + at] === word)) return { start: starts[first]!, end: ends[first + wanted.length - 1]! };
    }
    return null;
  };
  return { find, lowercase: (word) => small.get(word) ?? 0 };
}

/** Parses an address; null when it is none. The function of core would load the whole of core in each thread. */
export function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
