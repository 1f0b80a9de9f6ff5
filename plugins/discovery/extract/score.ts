import type { Candidate } from './candidates.ts';

/** By feature; two features joined by `+` count when a candidate has both. */
export type Weights = Record<string, number>;

/** Returns the features of a candidate, with pairs of them that mean more together. */
export function featuresOf({ features, mentions }: Candidate, pairs: readonly string[]): string[] {
  const all = [...features.keys(), ...(mentions > 1 ? ['mentions_2'] : []), ...(mentions > 3 ? ['mentions_4'] : [])];
  for (const pair of pairs) if (pair.split('+').every((feature) => features.has(feature))) all.push(pair);
  return all;
}

/** Returns from 0 to 1 how certain a candidate is a name. */
export function scoreOf(candidate: Candidate, weights: Weights, pairs: readonly string[]): number {
  let sum = weights.bias ?? 0;
  for (const feature of featuresOf(candidate, pairs)) sum += weights[feature] ?? 0;
  return 1 / (1 + Math.exp(-sum));
}
