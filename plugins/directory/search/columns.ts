import type { Reader } from 'civic';
import { setTimeout as sleep } from 'node:timers/promises';
import { tagOf, tagToken } from './document.ts';
import { addTally, crossed, type StateTallies, type StateTally } from './crossed.ts';
import type { Filter, Match } from './match.ts';
import { countFound, tagsByKey, tagTokens, type FreshnessFilter, type TaggedRow } from './query-store.ts';
import { createDays } from './days.ts';
import { emptyCounts, facetsFrom, type Facets } from './facets.ts';
import { createPrefixes, MANY_ACTORS, type Prefixes } from './prefixes.ts';
import { createSets } from './sets.ts';
import { createTotals, type Totals } from './totals.ts';

const RETRY_MS = 1000;
const FACETS = { type: 't:', state: 's:', issue: 'i:' };
type Column = keyof typeof FACETS;
const COLUMNS = Object.keys(FACETS) as Column[];

/** What facets are counted from: for each public actor its type, states, issue areas and days of freshness, in memory. */
export interface Columns {
  /** Fills them from the index, a tag at a time; tries until it succeeds. Reads that come earlier wait for it. */
  load(reader: Reader, onError: (error: unknown) => void): Promise<void>;
  stop(): void;
  ready(): Promise<void>;
  /** Reads these actors again, after a change of theirs was committed. */
  refresh(reader: Reader, keys: number[]): Promise<void>;
  /** The same from the rows that were just stored. */
  put(rows: TaggedRow[]): void;
  remove(keys: number[]): void;
  /** Counts the freshness too when a day is given. */
  facets(keys: Uint32Array | number[] | 'all', day?: number): Facets;
  /** Returns the keys of public actors with a freshness, of these or of all. */
  withFreshness(keys: Uint32Array | 'all', filter: FreshnessFilter): Uint32Array;
  /** Those of these keys that are no public actor's, or not yet. */
  unknown(keys: Uint32Array): number[];
  /** Public actors by issue area. */
  issueCounts(): Map<string, number>;
  /** Public actors by state and issue area. The tallies are kept up to date, so they are read at once. */
  stateTallies(): ReadonlyMap<string, Readonly<StateTally>>;
  /** Returns the keys of all public actors with one tag of each filter, in their order; null when a filter is about something else than these columns. */
  select(filters: Filter[], freshness: FreshnessFilter | null): Uint32Array | null;
  /** How many public actors there are. */
  readonly size: number;
  /** Grows with every change of an actor that this node has heard of. */
  readonly version: number;
  readonly totals: Totals;
  readonly prefixes: Prefixes;
}

export function createColumns({ manyActors = MANY_ACTORS } = {}): Columns {
  const days = createDays();
  const prefixes = createPrefixes(manyActors);
  const sets = { type: createSets(), state: createSets(), issue: createSets() };
  // By key of the actor, the number of its set of values; the empty set is 0, and an actor always has a type.
  let ids: Record<Column, Uint32Array> = { type: new Uint32Array(1024), state: new Uint32Array(1024), issue: new Uint32Array(1024) };
  // Set while they are filled: what changes meanwhile is read again at the end.
  let changed: Set<number> | null = null;
  let size = 0;
  let version = 0;
  let isStopped = false;
  // Counted when they are first read, and then changed with each actor.
  let tallies: StateTallies | null = null;
  const all: Record<Column, number[]> = { type: [], state: [], issue: [] };
  const loaded: { promise: Promise<void>; done: () => void } = deferred();

  function reserve(key: number): void {
    const { length } = ids.type;
    if (key < length) return;
    ids = mapColumns((column) => {
      const longer = new Uint32Array(Math.max(key + 1, length * 2));
      longer.set(ids[column]);
      return longer;
    });
  }

  function put(column: Column, key: number, id: number): void {
    const previous = ids[column][key]!;
    if (previous === id) return;
    all[column][previous] = (all[column][previous] ?? 0) - 1;
    all[column][id] = (all[column][id] ?? 0) + 1;
    if (column === 'type') size += (previous === 0 ? 1 : 0) - (id === 0 ? 1 : 0);
    ids[column][key] = id;
  }

  /** Counts an actor in the tallies, or no longer. */
  function tally(key: number, count: 1 | -1): void {
    if (tallies && ids.state[key]! > 0) addTally(tallies, sets.state.values(ids.state[key]!), sets.issue.values(ids.issue[key]!), count);
  }

  function remove(keys: number[]): void {
    version += 1;
    prefixes.change(keys);
    for (const key of keys) {
      changed?.add(key);
      if (key >= ids.type.length) continue;
      tally(key, -1);
      for (const column of COLUMNS) put(column, key, 0);
    }
  }

  async function refresh(reader: Reader, keys: number[]): Promise<void> {
    // At once: what was counted before is no longer true, however long reading takes.
    version += 1;
    prefixes.change(keys);
    for (const key of keys) changed?.add(key);
    const rows = await tagsByKey(reader, keys);
    const found = new Set(rows.map(({ key }) => key));
    remove(keys.filter((key) => !found.has(key)));
    putRows(rows);
  }

  function putRows(rows: TaggedRow[]): void {
    remove(rows.filter(({ visibility }) => visibility !== 'public').map(({ key }) => key));
    prefixes.change(rows.map(({ key }) => key));
    for (const row of rows) {
      const { key, visibility } = row;
      if (visibility !== 'public') continue;
      changed?.add(key);
      reserve(key);
      days.put(key, row);
      const list = row.tags.split(' ');
      tally(key, -1);
      for (const column of COLUMNS) {
        const values = list.filter((tag) => tag.startsWith(FACETS[column])).map((tag) => tag.slice(2)).sort();
        put(column, key, values.reduce((id, value) => sets[column].add(id, value), 0));
      }
      tally(key, 1);
    }
  }

  async function load(reader: Reader, onError: (error: unknown) => void): Promise<void> {
    while (!isStopped) {
      try {
        await fill(reader);
        loaded.done();
        await prefixes.load(reader);
        return;
      } catch (error) {
        if (isStopped) return;
        onError(error);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  async function fill(reader: Reader): Promise<void> {
    changed = new Set();
    tallies = null;
    for (const column of COLUMNS) {
      // In the order of the values, so that equal sets get one number.
      for (const token of await tagTokens(reader, tagToken(FACETS[column]))) {
        const match: Match = { token, isPrefix: false };
        const { keys } = await countFound(reader, { match, freshness: null }, true);
        const value = tagOf(token)!.slice(2);
        for (const key of keys!) {
          reserve(key);
          put(column, key, sets[column].add(ids[column][key]!, value));
        }
      }
    }
    await days.load(reader);
    const again = [...changed];
    changed = null;
    await refresh(reader, again);
  }

  function counted(keys: Uint32Array | number[] | 'all'): Record<Column, ArrayLike<number>> {
    if (keys === 'all') return all;
    const counts = mapColumns((column) => new Uint32Array(sets[column].size));
    const { type, state, issue } = ids;
    const { type: types, state: states, issue: issues } = counts;
    const { length } = type;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!;
      if (key >= length) continue;
      types[type[key]!]!++;
      states[state[key]!]!++;
      issues[issue[key]!]!++;
    }
    return counts;
  }

  /** By number of a set, 1 when it has one of the values of each filter. */
  function fitting(column: Column, filters: Filter[]): Uint8Array {
    const wanted = filters.map(({ any }) => new Set(any.map((tag) => tag.slice(2))));
    return Uint8Array.from({ length: sets[column].size }, (_, id) => (wanted.every((values) => sets[column].values(id).some((value) => values.has(value))) ? 1 : 0));
  }

  function byValue(column: Column, counts: ArrayLike<number>): Map<string, number> {
    const values = emptyCounts();
    for (let id = 1; id < counts.length; id++) {
      const count = counts[id] ?? 0;
      if (count > 0) for (const value of sets[column].values(id)) values.set(value, (values.get(value) ?? 0) + count);
    }
    return values;
  }

  return {
    load,
    stop() {
      isStopped = true;
      prefixes.stop();
    },
    ready: () => loaded.promise,
    refresh,
    put: putRows,
    remove,
    facets(keys, day) {
      const counts = counted(keys);
      const facets = facetsFrom(byValue('type', counts.type), byValue('issue', counts.issue), byValue('state', counts.state));
      return day === undefined ? facets : { ...facets, freshness: days.count(keys === 'all' ? ids.type.length : keys, day, (key) => ids.type[key]! > 0) };
    },
    withFreshness: (keys, filter) => days.select(keys === 'all' ? ids.type.length : keys, filter, (key) => ids.type[key]! > 0),
    unknown(keys) {
      const { type } = ids;
      const missing: number[] = [];
      for (let index = 0; index < keys.length; index++) if (!type[keys[index]!]) missing.push(keys[index]!);
      return missing;
    },
    select(filters, freshness) {
      const columnOf = ({ any }: Filter) => COLUMNS.find((column) => any.every((tag) => tag.startsWith(FACETS[column])));
      if (!filters.every(columnOf)) return null;
      const [types, states, issues] = COLUMNS.map((column) => fitting(column, filters.filter((filter) => columnOf(filter) === column))) as [Uint8Array, Uint8Array, Uint8Array];
      const { type, state, issue } = ids;
      const keys = new Uint32Array(size);
      let count = 0;
      for (let key = 0; key < type.length; key++) {
        if (type[key]! > 0 && types[type[key]!]! & states[state[key]!]! & issues[issue[key]!]!) keys[count++] = key;
      }
      const found = keys.subarray(0, count);
      return freshness ? days.select(found, freshness, () => true) : found;
    },
    issueCounts: () => byValue('issue', all.issue),
    stateTallies: () => tallies ??= crossed({ ids: ids.state, sets: sets.state }, { ids: ids.issue, sets: sets.issue }),
    get size() { return size; },
    get version() { return version; },
    totals: createTotals(),
    prefixes,
  };
}

function mapColumns<T>(make: (column: Column) => T): Record<Column, T> {
  return { type: make('type'), state: make('state'), issue: make('issue') };
}

function deferred(): { promise: Promise<void>; done: () => void } {
  let done!: () => void;
  const promise = new Promise<void>((resolve) => { done = resolve; });
  return { promise, done };
}
