/** Sets of texts by number; equal sets that are filled in the same order have the same number, and the empty one is 0. */
export interface Sets {
  /** The number of the set with this value besides. */
  add(id: number, value: string): number;
  values(id: number): readonly string[];
  readonly size: number;
}

export function createSets(): Sets {
  const values: string[][] = [[]];
  const next: Map<string, number>[] = [new Map()];
  return {
    add(id, value) {
      const known = next[id]!.get(value);
      if (known !== undefined) return known;
      if (values[id]!.includes(value)) return id;
      const made = values.push([...values[id]!, value]) - 1;
      next.push(new Map());
      next[id]!.set(value, made);
      return made;
    },
    values: (id) => values[id]!,
    get size() { return values.length; },
  };
}
