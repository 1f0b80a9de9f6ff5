import { createHash } from 'node:crypto';

/** Chance that comes out the same each time: the demo is the same region for everybody. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** Both ends included. */
  int(min: number, max: number): number;
  pick<Item>(list: readonly Item[]): Item;
  chance(part: number): boolean;
  shuffled<Item>(list: readonly Item[]): Item[];
}

/** Mulberry32: 32 bits of state are plenty for a few thousand draws. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    pick: (list) => list[int(0, list.length - 1)]!,
    chance: (part) => next() < part,
    shuffled: (list) => list.map((item) => ({ item, at: next() })).sort((one, other) => one.at - other.at).map(({ item }) => item),
  };
}

/** The same thing gets the same id on every load, so that links into the demo stay good. */
export function demoId(seed: number, key: string): string {
  const hex = createHash('sha256').update(`civic demo ${seed} ${key}`).digest('hex');
  const variant = (0x8 | (parseInt(hex[16]!, 16) & 0x3)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
