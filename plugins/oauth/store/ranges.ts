import type { Reader } from 'civic';

/** Rows of a table with keys greater than `after` and up to `last`. */
export interface KeyRange {
  after: number;
  last: number;
}

const ROWS = 500;

/** Returns the ranges of a table one by one, each with a few hundred rows, so that a statement over one is short however many rows there are. */
export async function* keyRanges(reader: Reader, table: 'oauth_clients' | 'oauth_grants'): AsyncGenerator<KeyRange> {
  for (let after = 0; ;) {
    const keys = (await reader(table).where('key', '>', after).orderBy('key').limit(ROWS).select('key')) as { key: number | string }[];
    if (keys.length === 0) return;
    const last = Number(keys.at(-1)!.key);
    yield { after, last };
    after = last;
  }
}
