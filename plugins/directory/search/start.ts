import type { Reader } from 'civic';
import { isFoundIn, namedMatch, tierMatches, type Asked, type Words } from './match.ts';
import { firstDocuments } from './query-store.ts';

/** Of so many names for each that is wanted, enough nearly always start with a short beginning that they have. */
const SAMPLE = 15;

/**
 * Returns the first names that start with a few letters; null when that takes the index of beginnings of names, which is slow for these.
 * A name that starts with the letters also has a word with them, so the first of one kind are among the first of the other.
 */
export async function shortStart(reader: Reader, asked: Asked & { words: Words }, limit: number): Promise<number[] | null> {
  const { words, isPrefix, endings } = asked.words;
  if (words.length > 1 || !isPrefix || endings) return null;
  const [starts] = tierMatches(asked);
  const ranks = (await firstDocuments(reader, namedMatch(asked), SAMPLE * limit)).filter(({ tokens }) => isFoundIn(tokens, starts)).map(({ rank }) => rank);
  return ranks.length < limit ? null : ranks.slice(0, limit);
}
