/** The least number of entries of each level of colour; level 0 has none. */
const FEW = [1, 3, 10, 50];
const MANY = [1, 3, 100, 1000];
/** With more entries than this in one area, the levels are `MANY`. */
const LARGE = 500;

export interface Levels {
  levelOf(count: number): number;
  /** The range of entries of each level; `to` is null for the last. */
  legend: { level: number; from: number; to: number | null }[];
}

/** Returns the levels of colour for the numbers of entries on a map. */
export function levelsFor(counts: number[]): Levels {
  const starts = counts.some((count) => count > LARGE) ? MANY : FEW;
  return {
    levelOf: (count) => starts.filter((start) => count >= start).length,
    legend: starts.map((from, index) => ({ level: index + 1, from, to: index + 1 < starts.length ? starts[index + 1]! - 1 : null })),
  };
}
