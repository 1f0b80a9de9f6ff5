import type { Reader } from 'civic';
import type { Discovery } from '../context.ts';
import { publicRunsSince } from '../runs/store.ts';

/** A run that would close a gap of the directory. `location`, `issue_areas` and `depth` are the request that starts it. */
export interface ProposedRun {
  place: string;
  location: string;
  issue_areas: string[];
  depth: 'standard';
  /** `missing`: other places have actors of these issue areas, this one has none. `stale`: most of what is known about the place is old. */
  reason: 'missing' | 'stale';
  entity_count: number;
}

/** Places that are compared: those with most actors. */
const MOST_PLACES = 30;
const MOST_KNOWN = 1000;
const MOST_AREAS = 10;
/** A place that was searched within this time is not proposed again for the same issue areas. */
const DONE_DAYS = 90;
const DAY_MS = 24 * 3600_000;

/** Returns runs that coverage suggests, places with most actors first. It reads public data only. */
export async function proposedRuns({ civic, directory }: Discovery, reader: Reader): Promise<ProposedRun[]> {
  const places = (await directory.coveredPlaces({ limit: MOST_KNOWN })).toSorted((one, other) => other.entity_count - one.entity_count || one.place_key.localeCompare(other.place_key)).slice(0, MOST_PLACES);
  const overviews = await Promise.all(places.map(async (place) => ({ place, ...await directory.placeOverview(place.place_key, 0) })));
  const spread = placesByIssue(overviews);
  const done = await searchedAreas(reader, new Date(civic.clock.now() - DONE_DAYS * DAY_MS).toISOString());
  return overviews.flatMap(({ place: { place_key, display_name }, entity_count, issues, freshness }): ProposedRun[] => {
    const wanted = (slugs: string[]) => slugs.filter((slug) => directory.issueName(slug) !== null && !done.has(`${place_key} ${slug}`)).slice(0, MOST_AREAS);
    const proposal = { place: place_key, location: display_name, depth: 'standard' as const, entity_count };
    const missing = wanted([...spread.keys()].filter((slug) => !issues.has(slug)));
    const stale = freshness.stale * 2 > entity_count ? wanted([...issues.keys()]) : [];
    return [
      ...(missing.length > 0 ? [{ ...proposal, issue_areas: missing, reason: 'missing' as const }] : []),
      ...(stale.length > 0 ? [{ ...proposal, issue_areas: stale, reason: 'stale' as const }] : []),
    ];
  });
}

/** Returns in how many places each issue area has actors, the most first: what the instance is about. */
function placesByIssue(overviews: { issues: Map<string, unknown> }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { issues } of overviews) for (const slug of issues.keys()) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  return new Map([...counts].toSorted(([one, count], [other, otherCount]) => otherCount - count || one.localeCompare(other)));
}

async function searchedAreas(reader: Reader, since: string): Promise<Set<string>> {
  const runs = await publicRunsSince(reader, since);
  return new Set(runs.flatMap(({ place_key, issue_areas }) => (JSON.parse(issue_areas) as string[]).map((slug) => `${place_key} ${slug}`)));
}
