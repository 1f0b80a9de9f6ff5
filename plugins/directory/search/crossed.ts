import type { Sets } from './sets.ts';

/** Public actors of a state: all of them, and by issue area. */
export interface StateTally {
  actors: number;
  issues: Map<string, number>;
}

interface Column {
  /** By key of the actor, the number of its set of values. */
  ids: Uint32Array;
  sets: Sets;
}

/** Counts actors by state and issue area, by the abbreviation of the state in lower case. An actor in two states counts in both. */
export function crossed(state: Column, issue: Column): Map<string, StateTally> {
  const [states, issues] = [numbered(state.sets), numbered(issue.sets)];
  const width = issues.values.length + 1;
  const counts = new Uint32Array(states.values.length * width);
  for (let key = 0; key < state.ids.length; key++) {
    const id = state.ids[key]!;
    if (id === 0) continue;
    for (const row of states.ofSet[id]!) {
      counts[row * width + width - 1]!++;
      for (const column of issues.ofSet[issue.ids[key]!]!) counts[row * width + column]!++;
    }
  }
  const tallies = states.values.map((name, row): [string, StateTally] => [name, {
    actors: counts[row * width + width - 1]!,
    issues: new Map(issues.values.flatMap((slug, column): [string, number][] => (counts[row * width + column]! > 0 ? [[slug, counts[row * width + column]!]] : []))),
  }]);
  return new Map(tallies.filter(([, { actors }]) => actors > 0));
}

/** Returns all values of the sets, and by the number of a set those of its values. */
function numbered(sets: Sets): { values: string[]; ofSet: number[][] } {
  const numbers = new Map<string, number>();
  const ofSet = Array.from({ length: sets.size }, (_, id) => sets.values(id).map((value) => {
    const number = numbers.get(value) ?? numbers.size;
    numbers.set(value, number);
    return number;
  }));
  return { values: [...numbers.keys()], ofSet };
}
