import type { Candidate } from './candidates.ts';

/** By feature; two features joined by `+` count when a candidate has both. */
export type Weights = Record<string, number>;

/** Returns the features of weights that are pairs. */
export function pairsOf(weights: Weights): string[][] {
  return Object.keys(weights).filter((feature) => feature.includes('+')).map((pair) => pair.split('+'));
}

/** Returns the features of a candidate, with pairs of them that mean more together. */
export function featuresOf({ features, mentions }: Candidate, pairs: string[][]): string[] {
  const all = [...features, ...(mentions > 1 ? ['mentions_2'] : []), ...(mentions > 3 ? ['mentions_4'] : [])];
  for (const pair of pairs) if (pair.every((feature) => features.has(feature))) all.push(pair.join('+'));
  return all;
}

/** Returns from 0 to 1 how certain a candidate is a name. */
export function scoreOf(candidate: Candidate, weights: Weights, pairs: string[][]): number {
  let sum = weights.bias ?? 0;
  for (const feature of featuresOf(candidate, pairs)) sum += weights[feature] ?? 0;
  return 1 / (1 + Math.exp(-sum));
}
