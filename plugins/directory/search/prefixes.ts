import type { Reader } from 'civic';
import { createBits, type Bits } from './bits.ts';
import { isFoundIn, type Match } from './match.ts';
import { countFound, countUpTo, shortStarts, tokensByKey } from './query-store.ts';

/** Above this number of actors, reading the keys of those that the index finds takes most of the time of a search. */
export const MANY_ACTORS = 100_000;
const MOST_CHANGED = 10_000;
const RELOAD_MS = 60_000;
const SHORTEST = 2;
const LONGEST = 3;

/** The public actors that have a word with a short beginning which many have, in memory: such as all with a word that starts with `co`. */
export interface Prefixes {
  /** Finds the frequent beginnings and reads their actors. Searches before its end read the index. */
  load(reader: Reader): Promise<void>;
  /** Notes that these actors were changed or deleted. */
  change(keys: Iterable<number>): void;
  /** Returns the actors with such a word, or null when they are not in memory. */
  find(prefix: string): Promise<Bits | null>;
  stop(): void;
}

export function createPrefixes(manyActors: number): Prefixes {
  let actors = new Map<string, Bits>();
  let reader: Reader | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Actors to read again before the next search. */
  const changed = new Set<number>();
  let updated = Promise.resolve();

  async function load(from: Reader): Promise<void> {
    reader = from;
    changed.clear();
    const found = new Map<string, Bits>();
    for (const start of await shortStarts(from, '', SHORTEST)) await addFrequent(from, start, found);
    actors = found;
  }

  /** Adds a beginning that many actors have, and the longer beginnings in it. */
  async function addFrequent(from: Reader, start: string, found: Map<string, Bits>): Promise<void> {
    const match = startsWith(start);
    if (await countUpTo(from, match, manyActors + 1) <= manyActors) return;
    const { keys } = await countFound(from, { match, freshness: null }, true);
    found.set(start, createBits(keys!));
    const length = Array.from(start).length;
    if (length < LONGEST) for (const longer of await shortStarts(from, start, length + 1)) await addFrequent(from, longer, found);
  }

  async function update(keys: number[]): Promise<void> {
    try {
      const tokens = new Map((await tokensByKey(reader!, keys)).map((row) => [row.key, row.tokens]));
      for (const [start, bits] of actors) {
        const match = startsWith(start);
        for (const key of keys) bits.set(key, isFoundIn(tokens.get(key) ?? '', match));
      }
    } catch {
      reload();
    }
  }

  /** Forgets everything until changes have been few for a while: an import changes more actors than are worth reading one by one. */
  function reload(): void {
    actors = new Map();
    changed.clear();
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => void load(reader!).catch(reload), RELOAD_MS).unref();
  }

  return {
    load,
    change(keys) {
      if (!reader) return;
      for (const key of keys) changed.add(key);
      if (changed.size > MOST_CHANGED) reload();
    },
    async find(prefix) {
      if (!actors.has(prefix)) return null;
      if (changed.size > 0) {
        const keys = [...changed];
        changed.clear();
        updated = updated.then(() => update(keys));
      }
      await updated;
      return actors.get(prefix) ?? null;
    },
    stop() {
      if (timer) clearTimeout(timer);
    },
  };
}

const startsWith = (token: string): Match => ({ token, isPrefix: true });
