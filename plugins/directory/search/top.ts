import type { Reader } from 'civic';
import type { Columns } from './columns.ts';
import { keyOf } from './document.ts';
import { withEndings } from './list.ts';
import { readQuery, tierMatches } from './match.ts';
import { pageByRank, searching } from './query-store.ts';
import { shortStart } from './start.ts';

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
