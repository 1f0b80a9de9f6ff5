import { foldText, type Page, type Position } from 'civic';
import type { Subscription } from '../query/subscription.ts';
import { splitPosition, type SnapshotContext } from '../snapshot/snapshot.ts';
import { pageRows, type PageRow } from '../snapshot/store.ts';
import type { Signal } from '../types.ts';

export interface FoundSignals {
  rows: PageRow[];
  /** Where the next page begins; null when all signals were searched. */
  next: Position | null;
}

/** A request reads no more signals than this. The next page continues with older ones. */
export const SEARCHED = 2000;
const AT_ONCE = 250;

/**
 * Returns the newest signals of a subscription that have all the words in title or summary, each as the beginning of a word.
 * Reads the signals newest first instead of an index of words, which every published signal would have to fill.
 */
export async function searchSignals({ db, log }: SnapshotContext, { filter, query: { sort } }: Subscription, { after: from, limit }: Pick<Page, 'after' | 'limit'>, words: string[]): Promise<FoundSignals> {
  const position = splitPosition(from, sort);
  return db().snapshot(async (tx) => {
    const asOf = position.asOf ?? await log.headIn(tx);
    const found: PageRow[] = [];
    let { after } = position;
    for (let searched = 0; searched < SEARCHED; searched += AT_ONCE) {
      const rows = await pageRows(tx, filter, { sort, limit: AT_ONCE, after, asOf });
      for (const row of rows.slice(0, AT_ONCE)) {
        after = [row.value, row.born];
        if (matches(row, words)) found.push(row);
        if (found.length === limit) return { rows: found, next: row === rows.at(-1) ? null : [...after, asOf] };
      }
      if (rows.length <= AT_ONCE) return { rows: found, next: null };
    }
    return { rows: found, next: [...after!, asOf] };
  });
}

function matches({ signal }: PageRow, words: string[]): boolean {
  const { title, summary } = JSON.parse(signal) as Signal;
  const text = ` ${foldText(`${title} ${summary ?? ''}`).replaceAll(/[^\p{L}\p{N}]+/gu, ' ')}`;
  return words.every((word) => text.includes(` ${word}`));
}
