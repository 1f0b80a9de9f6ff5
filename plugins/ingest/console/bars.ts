import type { ReadRow } from '../reads/store.ts';

export interface Bar {
  outcome: ReadRow['outcome'];
  x: number;
  y: number;
  height: number;
}

const STEP = 10;
const FULL = 100;
/** A read without rows is shown, too. */
const LEAST = 6;

/** Returns a bar for each read, the oldest at the left, in a picture of `most` bars. The height is the number of rows; a failed read has the full height. */
export function barsOf(latestFirst: Pick<ReadRow, 'outcome' | 'rows'>[], most: number): Bar[] {
  const highest = Math.max(1, ...latestFirst.map(({ rows }) => rows));
  return latestFirst.slice(0, most).map(({ outcome, rows }, index) => {
    const isFailure = outcome === 'failed' || outcome === 'refused';
    const height = isFailure ? FULL : Math.max(LEAST, Math.round((FULL * rows) / highest));
    return { outcome, x: (most - 1 - index) * STEP + 1, y: FULL - height, height };
  });
}
