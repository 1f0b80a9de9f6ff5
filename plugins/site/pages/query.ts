/** The query of the search page. */
export interface Asked {
  query: string;
  state?: string;
  place: string[];
  entity_type: string[];
  issue_area: string[];
  freshness: string[];
  sort: 'relevance' | 'name' | 'recent' | 'source_count';
  /** Whether misspelt words are searched without correction. */
  exact: boolean;
}

export type Filter = 'state' | 'place' | 'entity_type' | 'issue_area' | 'freshness';

/** Returns the address of a search, without parameters that have their default. */
export function addressOf(asked: Asked): string {
  const parameters = apiParameters(asked);
  if (asked.exact) parameters.append('exact', 'true');
  return parameters.size > 0 ? `/search?${parameters}` : '/search';
}

/** Returns the query string of the same search in the API. */
export function apiQueryOf(asked: Asked): string {
  return apiParameters(asked).toString();
}

function apiParameters({ query, state, place, entity_type, issue_area, freshness, sort }: Asked): URLSearchParams {
  const parameters = new URLSearchParams();
  if (query) parameters.append('query', query);
  for (const [name, values] of Object.entries({ entity_type, issue_area, state: state ? [state] : [], freshness, place })) for (const value of values) parameters.append(name, value);
  if (sort !== 'relevance') parameters.append('sort', sort);
  return parameters;
}

export function withFilter(asked: Asked, filter: Filter, value: string): Asked {
  return filter === 'state' ? { ...asked, state: value } : { ...asked, [filter]: [...asked[filter], value] };
}

export function withoutFilter(asked: Asked, filter: Filter, value: string): Asked {
  return filter === 'state' ? { ...asked, state: undefined } : { ...asked, [filter]: asked[filter].filter((one) => one !== value) };
}

/** Returns the number of values that narrow the search, besides its words. */
export function chosenCount({ state, place, entity_type, issue_area, freshness }: Asked): number {
  return (state ? 1 : 0) + place.length + entity_type.length + issue_area.length + freshness.length;
}
