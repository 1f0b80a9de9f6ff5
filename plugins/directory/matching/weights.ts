import { FIELDS, LEVELS, type Comparison, type Field, type Level } from './compare.ts';

/** How often a field agrees on each level: `m` among pairs that are one actor, `u` among those that are not. */
export type Chances = Record<Exclude<Level, 'missing'>, number>;
export interface Parameters {
  /** The share of candidate pairs that are one actor. */
  prior: number;
  fields: Record<Field, { m: Chances; u: Chances }>;
}

export interface Explained extends Comparison {
  /** In bits: above 0 it speaks for one actor, below for two. */
  weight: number;
}

/** What agreeing on a name loses when many bear it. */
const FREQUENT_NAME = -2;
/** No field outweighs all others together, and those who have the same name mostly work on the same things. */
const MOST: Record<Field, number> = { name: 10, place: 6, website: 8, email: 8, phone: 8, identifier: 8, issue_areas: 2 };

/** The weight of each comparison, by Fellegi and Sunter: log2(m/u). What is missing on one side says nothing. */
export function explain(comparisons: Comparison[], parameters: Parameters): Explained[] {
  return comparisons.map((comparison) => {
    const { field, level, frequent } = comparison;
    if (level === 'missing') return { ...comparison, weight: 0 };
    const { m, u } = parameters.fields[field];
    const adjusted = Math.log2(m[level] / u[level]) + (frequent && level !== 'disagree' ? FREQUENT_NAME : 0);
    return { ...comparison, weight: Math.round(100 * Math.max(-MOST[field], Math.min(MOST[field], adjusted))) / 100 };
  });
}

/** The chance that two actors with these weights are one. */
export function probability(explained: Explained[], prior: number): number {
  const bits = explained.reduce((sum, { weight }) => sum + weight, Math.log2(prior / (1 - prior)));
  return 1 / (1 + 2 ** -bits);
}

const START: Record<'m' | 'u', Chances> = {
  m: { exact: 0.7, close: 0.15, partial: 0.1, disagree: 0.05 },
  u: { exact: 0.05, close: 0.05, partial: 0.15, disagree: 0.75 },
};
/** As if so many pairs had been seen before, so that a level nobody has met is rare and not impossible. */
const BEFORE = 4;
const ROUNDS = 200;

/**
 * Estimates m, u and the prior from candidate pairs nobody has judged, by expectation and maximisation: guess each pair's
 * chance from the parameters, then the parameters from the chances, until nothing moves. Meant for pairs whose names agree at
 * least in part, the only ones judged by weights: among the others it would find those who share an office and a switchboard.
 */
export function estimate(pairs: Level[][]): Parameters {
  // Pairs with the same levels have the same chance: counted once.
  const patterns = new Map<string, { levels: Level[]; times: number }>();
  for (const levels of pairs) {
    const key = levels.join();
    const pattern = patterns.get(key) ?? { levels, times: 0 };
    pattern.times++;
    patterns.set(key, pattern);
  }
  let parameters: Parameters = { prior: 0.3, fields: Object.fromEntries(FIELDS.map((field) => [field, START])) as Parameters['fields'] };
  for (let round = 0; round < ROUNDS; round++) {
    const seen = [...patterns.values()].map(({ levels, times }) => {
      const same = times * chanceOf(levels, parameters);
      return { levels, same, other: times - same };
    });
    parameters = {
      prior: rounded(seen.reduce((sum, { same }) => sum + same, 0) / pairs.length),
      fields: Object.fromEntries(FIELDS.map((field, at) => [field, {
        m: shares(seen.map(({ levels, same }) => [levels[at]!, same]), START.m),
        u: shares(seen.map(({ levels, other }) => [levels[at]!, other]), START.u),
      }])) as Parameters['fields'],
    };
  }
  return parameters;
}

function chanceOf(levels: Level[], { prior, fields }: Parameters): number {
  let [same, other] = [prior, 1 - prior];
  for (const [at, level] of levels.entries()) {
    if (level === 'missing') continue;
    const { m, u } = fields[FIELDS[at]!];
    same *= m[level];
    other *= u[level];
  }
  return same / (same + other);
}

function shares(counted: [Level, number][], start: Chances): Chances {
  const sums = Object.fromEntries(LEVELS.map((level) => [level, BEFORE * start[level]])) as Chances;
  for (const [level, count] of counted) if (level !== 'missing') sums[level] += count;
  const total = LEVELS.reduce((sum, level) => sum + sums[level], 0);
  return Object.fromEntries(LEVELS.map((level) => [level, Math.max(0.0001, rounded(sums[level] / total))])) as Chances;
}

const rounded = (share: number): number => Math.round(10_000 * share) / 10_000;
