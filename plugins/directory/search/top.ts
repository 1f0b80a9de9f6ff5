import type { Reader } from 'civic';
import type { Columns } from './columns.ts';
import { keyOf } from './document.ts';
import { withEndings } from './list.ts';
import { isFoundIn, namedMatch, readQuery, tierMatches, type Asked, type Words } from './match.ts';
import { firstDocuments, pageByRank, searching } from './query-store.ts';

/** So many names with a short beginning nearly always have enough that start with it. */
const SAMPLE = 100;

/** Returns the keys of the first public actors by relevance, without the total: for suggestions while a user types. */
export async function topActors(reader: Reader, query: string, limit: number, columns: Pick<Columns, 'size'>): Promise<number[]> {
  const read = readQuery(query);
  if (!read) return [];
  return searching(reader, async (quick) => {
    const words = await withEndings(quick, read);
    const asked = { words, filters: [], workspace: null };
    const ranks = await shortStart(quick, asked, limit) ?? (await pageByRank(quick, { tiers: tierMatches(asked), freshness: null, after: null, limit, isFrequent: columns.size > 0 })).map(({ rank }) => rank);
    return ranks.map(keyOf);
  });
}

/**
 * Returns the first names that start with a few letters; null when that takes the index of beginnings of names, which is slow for these.
 * A name that starts with the letters also has a word with them, so the first of one kind are among the first of the other.
 */
async function shortStart(reader: Reader, asked: Asked & { words: Words }, limit: number): Promise<number[] | null> {
  const { words, isPrefix, endings } = asked.words;
  if (words.length > 1 || !isPrefix || endings) return null;
  const [starts] = tierMatches(asked);
  const ranks = (await firstDocuments(reader, namedMatch(asked), SAMPLE)).filter(({ tokens }) => isFoundIn(tokens, starts)).map(({ rank }) => rank);
  return ranks.length < limit ? null : ranks.slice(0, limit);
}
