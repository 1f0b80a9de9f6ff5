/** Chances that come out the same for the same seed. */
export interface Random {
  /** 0 up to, not including, `end`. */
  int(end: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Up to `most` different ones. */
  some<T>(list: readonly T[], most: number): T[];
  /** Others, whose course does not depend on how often these are asked. */
  fork(): Random;
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const int = (end: number): number => Math.floor(next() * end);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (list) => list[int(list.length)]!,
    some: (list, most) => {
      const left = [...list];
      return Array.from({ length: Math.min(int(most + 1), list.length) }, () => left.splice(int(left.length), 1)[0]!);
    },
    fork: () => createRandom(int(2 ** 32)),
  };
}
