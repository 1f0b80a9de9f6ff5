import { blocks, MOST_IN_BLOCK } from './block.ts';
import { compare, nameLikeness, SAME_NAME, type Level } from './compare.ts';
import { judge, type Zone } from './judge.ts';
import { prepare, type Prepared } from './profile.ts';
import { syntheticNames, syntheticRecords, type Labelled, type NamePair } from './synthetic.ts';
import { estimate, type Parameters } from './weights.ts';

/** Weights and thresholds were chosen on the first; figures are taken on the second. */
export const SPLIT = { train: 1, test: 2 };
const ENTITIES = 1000;

export interface Score {
  /** How many pairs were judged, and how many of all are one. */
  pairs: number;
  matches: number;
  precision: number;
  recall: number;
  f1: number;
}

export function score(judged: { same: boolean; isMatch: boolean }[], missed = 0): Score {
  const count = (same: boolean, isMatch: boolean) => judged.filter((pair) => pair.same === same && pair.isMatch === isMatch).length;
  const [right, wrong, lost] = [count(true, true), count(true, false), count(false, true) + missed];
  const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
  const rounded = (value: number) => Math.round(value * 10_000) / 10_000;
  return {
    pairs: judged.length, matches: right + lost,
    precision: rounded(share(right, right + wrong)), recall: rounded(share(right, right + lost)), f1: rounded(share(2 * right, 2 * right + wrong + lost)),
  };
}

/** Judges pairs of names by nothing but the names. */
export function scoreNames(pairs: NamePair[]): Record<string, Score> {
  const judged = pairs.map((pair) => ({ ...pair, same: nameLikeness(pair.type === 'person', pair.left, pair.right) >= SAME_NAME }));
  const types = [...new Set(pairs.map(({ type }) => type))].sort();
  return { all: score(judged), ...(types.length > 1 ? Object.fromEntries(types.map((type) => [type, score(judged.filter((pair) => pair.type === type))])) : Object.fromEntries(types.map((type) => [type, score(judged)]))) };
}

interface Candidates {
  pairs: { left: Prepared; right: Prepared; isMatch: boolean }[];
  /** True pairs that share no block, so that nobody looks at them. */
  missed: number;
}

/** The pairs of records that share a block: what the directory would look at. */
export function candidates(records: Labelled[]): Candidates {
  const prepared = records.map(({ profile }) => prepare(profile));
  const holders = new Map<string, number[]>();
  for (const [at, actor] of prepared.entries()) {
    for (const block of blocks(actor)) {
      const held = holders.get(block);
      if (held) held.push(at);
      else holders.set(block, [at]);
    }
  }
  const seen = new Set<number>();
  for (const held of holders.values()) if (held.length <= MOST_IN_BLOCK) for (const one of held) for (const other of held) if (one < other) seen.add(one * records.length + other);
  const isMatch = (one: number, other: number) => records[one]!.entity === records[other]!.entity;
  const pairs = [...seen].map((key) => [Math.floor(key / records.length), key % records.length] as const)
    .map(([one, other]) => ({ left: prepared[one]!, right: prepared[other]!, isMatch: isMatch(one, other) }));
  const sizes = new Map<number, number>();
  for (const { entity } of records) sizes.set(entity, (sizes.get(entity) ?? 0) + 1);
  const all = [...sizes.values()].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0);
  return { pairs, missed: all - pairs.filter((pair) => pair.isMatch).length };
}

export interface RecordScores {
  /** Match and review together: what somebody gets to see. */
  proposed: Score;
  /** What is merged without asking. */
  merged: Score;
  missed_by_blocking: number;
}

export function scoreRecords(seed: number, kind?: 'person' | 'organization'): RecordScores {
  const records = syntheticRecords(seed, ENTITIES).filter(({ profile }) => kind === undefined || profile.type === kind);
  const { pairs, missed } = candidates(records);
  const zones = pairs.map(({ left, right, isMatch }) => ({ zone: judge(left, right).zone, isMatch }));
  const counted = (counting: Zone[]) => score(zones.map(({ zone, isMatch }) => ({ same: counting.includes(zone), isMatch })), missed);
  return { proposed: counted(['match', 'review']), merged: counted(['match']), missed_by_blocking: missed };
}

/** The weights the kit ships, as they come out of the training split. */
export function trainedParameters(): Record<'person' | 'organization', Parameters> {
  const { pairs } = candidates(syntheticRecords(SPLIT.train, ENTITIES));
  const levels = (isPerson: boolean): Level[][] => pairs.filter(({ left, right }) => left.isPerson === isPerson && right.isPerson === isPerson)
    .map(({ left, right }) => compare(left, right).map(({ level }) => level)).filter(([name]) => name !== 'disagree');
  return { person: estimate(levels(true)), organization: estimate(levels(false)) };
}

export const syntheticNameScores = (seed: number): Record<string, Score> => scoreNames(syntheticNames(seed, ENTITIES));
