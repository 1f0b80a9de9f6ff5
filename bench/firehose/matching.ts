import type { QueryFields } from '../../plugins/firehose/log/fields.ts';
import type { Entry } from '../../plugins/firehose/log/log.ts';
import { deliveryOf, type Filter } from '../../plugins/firehose/query/filter.ts';
import { createMatcher } from '../../plugins/firehose/query/matcher.ts';
import { SIGNAL_TYPES } from '../../plugins/firehose/types.ts';
import { median } from '../harness.ts';

const QUERIES = 10_000;
const PLACES = 20_000;
const ISSUES = 60;
const TYPES = SIGNAL_TYPES.slice(0, 12);
const LIMIT_MICROSECONDS = 15;
const ROUNDS = 9;
/** A linear scan takes so much longer that fewer do. */
const SIGNALS = 4000;
const SCANNED = 100;

/** Which of many different queries a signal is for: by the index, and by asking each. */
export async function benchMatching(): Promise<boolean> {
  const random = randomFrom(7);
  const filters = differentFilters(random);
  const entries = Array.from({ length: SIGNALS }, (_, index) => entryOf(index + 1, random));
  const matcher = createMatcher<number>();
  for (const [index, filter] of filters.entries()) matcher.add(filter, index);

  const indexed = (some: Entry[]): number => {
    let hits = 0;
    for (const entry of some) matcher.match(entry, () => { hits++; });
    return hits;
  };
  const scanned = (some: Entry[]): number => {
    let hits = 0;
    for (const entry of some) for (const filter of filters) if (deliveryOf(entry, filter)) hits++;
    return hits;
  };
  const few = entries.slice(0, SCANNED);
  if (indexed(few) !== scanned(few)) throw new Error(`The index finds ${indexed(few)} matches, and asking each query ${scanned(few)}`);
  const times = Array.from({ length: ROUNDS }, () => ({ ours: timed(entries, indexed), linear: timed(few, scanned) }));
  const ours = median(times.map((round) => round.ours));
  const gain = median(times.map((round) => round.linear / round.ours));
  const share = (indexed(entries) / SIGNALS / QUERIES) * 100;
  const isInside = ours <= LIMIT_MICROSECONDS;
  process.stdout.write(`\nMatching a signal with ${QUERIES.toLocaleString('en-US')} different queries, of which it is for ${share.toFixed(1)} %\n`);
  process.stdout.write(`  ${ours.toFixed(1)} µs (best round ${Math.min(...times.map((round) => round.ours)).toFixed(1)}, limit ${LIMIT_MICROSECONDS}); asking each takes ${Math.round(median(times.map(({ linear }) => linear)))} µs, ${gain.toFixed(0)}x as long${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}

function timed(entries: Entry[], match: (entries: Entry[]) => number): number {
  const before = process.cpuUsage();
  match(entries);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / entries.length;
}

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

type Random = () => number;

/** Place n is asked for n times less often than the first. */
const place = (random: Random): string => `place-${Math.floor(PLACES ** random())}`;
const issue = (random: Random): string => `issue-${Math.floor(random() * ISSUES)}`;
const type = (random: Random): string => TYPES[Math.floor(random() * TYPES.length)]!;

/** Some of it, or nothing when it is not asked for. */
function some(random: Random, chance: number, most: number, make: (random: Random) => string): Set<string> {
  return new Set(random() < chance ? Array.from({ length: 1 + Math.floor(random() * most) }, () => make(random)) : []);
}

function differentFilters(random: Random): Filter[] {
  const filters = new Map<string, Filter>();
  while (filters.size < QUERIES) {
    const filter: Filter = {
      places: some(random, 0.4, 4, place), issues: some(random, 0.5, 11, issue), types: some(random, 0.4, 6, type),
      actorTypes: new Set(), classes: new Set(), except: null, audiences: ['public'], since: -Infinity, until: Infinity, time: 'detected',
    };
    const { places, issues, types } = filter;
    filters.set([places, issues, types].map((set) => [...set].sort().join()).join(';'), filter);
  }
  return [...filters.values()];
}

function entryOf(seq: number, random: Random): Entry {
  const fields: QueryFields = {
    type: type(random) as QueryFields['type'], source_class: 'news', audience: 'public', actor_types: ['organization'],
    places: [...some(random, 1, 2, place)], issues: [...some(random, 1, 2, issue)], detected: seq, occurred: seq, relevance: 1,
  };
  return { seq, now: { fields, json: '' }, before: null };
}
