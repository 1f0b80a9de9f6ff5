/** A set of keys with one bit for each key. */
export interface Bits {
  set(key: number, isIn: boolean): void;
  /** Returns those of these keys that are in the set, in their order; all of the set when left out. */
  among(keys?: Uint32Array): Uint32Array;
}

export function createBits(given: Uint32Array): Bits {
  let words = new Uint32Array(1024);
  let size = 0;

  function set(key: number, isIn: boolean): void {
    if (key >>> 5 >= words.length) {
      if (!isIn) return;
      const longer = new Uint32Array(Math.max((key >>> 5) + 1, words.length * 2));
      longer.set(words);
      words = longer;
    }
    const before = words[key >>> 5]!;
    const after = isIn ? before | (1 << (key & 31)) : before & ~(1 << (key & 31));
    words[key >>> 5] = after;
    if (before !== after >>> 0) size += isIn ? 1 : -1;
  }

  function all(): Uint32Array {
    const keys = new Uint32Array(size);
    let count = 0;
    for (let index = 0; index < words.length; index++) {
      for (let word = words[index]!; word !== 0; word &= word - 1) keys[count++] = index * 32 + 31 - Math.clz32(word & -word);
    }
    return keys;
  }

  function of(keys: Uint32Array): Uint32Array {
    const found = new Uint32Array(keys.length);
    let count = 0;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!;
      // A key beyond the words reads undefined, which has no bits.
      if (words[key >>> 5]! & (1 << (key & 31))) found[count++] = key;
    }
    return found.subarray(0, count);
  }

  for (let index = 0; index < given.length; index++) set(given[index]!, true);
  return { set, among: (keys) => (keys ? of(keys) : all()) };
}
