import type { Sets } from './sets.ts';

/** Public actors of a state: all of them, and by issue area. */
export interface StateTally {
  actors: number;
  issues: Map<string, number>;
}

/** Tallies by the abbreviation of the state in lower case. An actor in two states counts in both. */
export type StateTallies = Map<string, StateTally>;

interface Column {
  /** By key of the actor, the number of its set of values. */
  ids: Uint32Array;
  sets: Sets;
}

/** More pairs of sets than these are added up actor by actor. */
const MOST_PAIRS = 4_000_000;

/** Counts all actors by state and issue area. */
export function crossed(state: Column, issue: Column): StateTallies {
  const tallies: StateTallies = new Map();
  const add = (stateSet: number, issueSet: number, count: number) => addTally(tallies, state.sets.values(stateSet), issue.sets.values(issueSet), count);
  const width = issue.sets.size;
  if (state.sets.size * width > MOST_PAIRS) {
    for (let key = 0; key < state.ids.length; key++) if (state.ids[key]! > 0) add(state.ids[key]!, issue.ids[key]!, 1);
    return tallies;
  }
  const counts = new Uint32Array(state.sets.size * width);
  for (let key = 0; key < state.ids.length; key++) counts[state.ids[key]! * width + issue.ids[key]!]!++;
  for (let pair = width; pair < counts.length; pair++) if (counts[pair]! > 0) add(Math.floor(pair / width), pair % width, counts[pair]!);
  return tallies;
}

/** Adds actors in these states, with these issue areas, to their tallies; a negative count removes them. */
export function addTally(tallies: StateTallies, states: readonly string[], issues: readonly string[], count: number): void {
  for (const name of states) {
    const tally = tallies.get(name) ?? { actors: 0, issues: new Map<string, number>() };
    tally.actors += count;
    tallies.set(name, tally);
    for (const slug of issues) {
      tally.issues.set(slug, (tally.issues.get(slug) ?? 0) + count);
      if (tally.issues.get(slug) === 0) tally.issues.delete(slug);
    }
    if (tally.actors === 0) tallies.delete(name);
  }
}
