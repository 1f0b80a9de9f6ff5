/** A statement is sent with at most so many values. */
const MOST_VALUES = 5000;

/** Values in pieces that fit into a statement, in their order. */
export function* chunksOf<Value>(values: readonly Value[], size = MOST_VALUES): Iterable<Value[]> {
  for (let start = 0; start < values.length; start += size) yield values.slice(start, start + size);
}
