import { freshnessOn, type FreshnessDays } from '../actors/freshness.ts';

export interface FacetCount {
  value: string;
  count: number;
}

export interface Facets {
  entity_type: FacetCount[];
  issue_area: FacetCount[];
  /** By abbreviation. */
  state: FacetCount[];
  /** On the day that the request named, when it named one. */
  freshness?: FacetCount[];
}

type Counts = Map<string, number>;

export const emptyCounts = (): Counts => new Map();

export function facetsFrom(types: Counts, issueAreas: Counts, states: Counts): Facets {
  return {
    entity_type: listed(types),
    issue_area: listed(issueAreas),
    state: listed(states).map(({ value, count }) => ({ value: value.toUpperCase(), count })),
  };
}

/** The sum of two, for what is public and what is a workspace's own. */
export function addFacets(left: Facets, right: Facets): Facets {
  const sum = (name: keyof Facets): FacetCount[] => {
    const counts = new Map(left[name]!.map(({ value, count }) => [value, count]));
    for (const { value, count } of right[name]!) counts.set(value, (counts.get(value) ?? 0) + count);
    return listed(counts);
  };
  return { entity_type: sum('entity_type'), issue_area: sum('issue_area'), state: sum('state'), ...(left.freshness && { freshness: sum('freshness') }) };
}

/** Counted from the actors' rows themselves. */
export function facetsOfRows(rows: (FreshnessDays & { tags: string })[], day?: number): Facets {
  const counts: Record<string, Counts> = { t: new Map(), i: new Map(), s: new Map() };
  for (const { tags } of rows) {
    for (const tag of tags.split(' ')) {
      const values = tag[1] === ':' ? counts[tag[0]!] : undefined;
      values?.set(tag.slice(2), (values.get(tag.slice(2)) ?? 0) + 1);
    }
  }
  const facets = facetsFrom(counts['t']!, counts['i']!, counts['s']!);
  return day === undefined ? facets : { ...facets, freshness: freshnessOfRows(rows, day) };
}

function freshnessOfRows(rows: FreshnessDays[], day: number): FacetCount[] {
  const counts = emptyCounts();
  for (const row of rows) counts.set(freshnessOn(day, row), (counts.get(freshnessOn(day, row)) ?? 0) + 1);
  return listed(counts);
}

function listed(counts: Counts): FacetCount[] {
  return Array.from(counts, ([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
