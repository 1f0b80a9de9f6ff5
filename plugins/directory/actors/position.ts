import type { Position } from 'civic';

/** Compares positions in a list that is sorted by numbers, the lowest first. */
export function comparePositions(a: number[], b: number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : a[at]! - b[at]!;
}

/** Returns a page of rows that are all in memory and sorted by their positions. The row of a cursor may be gone: the page starts with the next one. */
export function sliceAfter<Row>(rows: Row[], positionOf: (row: Row) => number[], after: Position | null, limit: number): { rows: Row[]; next: Position | null } {
  const rest = after ? rows.filter((row) => comparePositions(positionOf(row), after as number[]) > 0) : rows;
  const page = rest.slice(0, limit);
  return { rows: page, next: limit < rest.length ? positionOf(page.at(-1)!) : null };
}
