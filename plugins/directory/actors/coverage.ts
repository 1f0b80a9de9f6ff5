import type { Reader } from 'civic';
import type { Place } from '../places/schemas.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import { ACTOR_TYPES, type FreshnessStatus } from '../types.ts';
import { dayOf, freshnessOn } from './freshness.ts';
import type { LatestRun } from './runs.ts';
import type { WatchedSources } from './watched.ts';
import { placeStandings, type PlaceStanding } from './read-store.ts';

/** So many actors cover an issue area; fewer are thin. */
export const COVERED = 3;

export type CoverageStatus = 'covered' | 'thin' | 'missing';

/** What the taxonomy alone decides, worked out once. */
interface Outline {
  /** By tag, its place in the counts: first the types, then the issue areas. */
  numbers: Map<string, number>;
  areas: Area[];
  domains: string[];
}

interface Area {
  slug: string;
  domain: string;
  /** Its record as JSON: up to the first number, and all of it when nobody works on it. */
  start: string;
  missing: string;
}

interface Counts {
  /** By the number of a tag. */
  actors: Uint32Array;
  sources: Uint32Array;
  allSources: number;
  freshness: Record<FreshnessStatus, number>;
}

const TYPES = ACTOR_TYPES.length;
const outlines = new WeakMap<Taxonomy, Outline>();

export interface CoverageSummary {
  entity_count: number;
  source_count: number;
  /** The slugs of issue areas, by status. */
  by: Record<CoverageStatus, string[]>;
}

/** Returns what the directory has about a place and what is missing, by the issue areas of the taxonomy: as JSON, because creating all the small records first would take longer than counting. */
export async function readCoverage(reader: Reader, place: Place, number: number, taxonomy: Taxonomy, now: number, { watched, run }: { watched: WatchedSources; run: LatestRun | null }): Promise<{ text: string; summary: CoverageSummary }> {
  const standings = await placeStandings(reader, number);
  const { numbers, areas, domains } = outlineOf(taxonomy);
  const { actors, sources, allSources, freshness } = counted(standings, numbers, dayOf(now));
  const by: Record<CoverageStatus, string[]> = { covered: [], thin: [], missing: [] };
  const known = new Set<string>();
  const issues = areas.map(({ slug, domain, start, missing }, index) => {
    const count = actors[TYPES + index]!;
    const status = coverageStatus(count);
    by[status].push(slug);
    if (count === 0) return missing;
    known.add(domain);
    return `${start}${count},"source_count":${sources[TYPES + index]!},"status":"${status}"}`;
  });
  const text = [
    `{"place":${JSON.stringify(place)},"entity_count":${standings.length},"source_count":${allSources}`,
    `"by_type":[${ACTOR_TYPES.map((type, index) => `{"type":"${type}","count":${actors[index]!}}`).join(',')}]`,
    `"issue_counts":[${issues.join(',')}]`,
    `"covered_issue_areas":${listOf(by.covered)},"thin_issue_areas":${listOf(by.thin)},"missing_issue_areas":${listOf(by.missing)}`,
    `"uncovered_domains":${listOf(domains.filter((slug) => !known.has(slug)))},"freshness":${JSON.stringify(freshness)}`,
    `"watched_sources":${JSON.stringify(watched)},"latest_run":${JSON.stringify(run)}}`,
  ].join(',');
  return { text, summary: { entity_count: standings.length, source_count: allSources, by } };
}

/** Slugs are letters, digits and `_`: nothing that JSON would escape. */
const listOf = (slugs: string[]): string => (slugs.length > 0 ? `["${slugs.join('","')}"]` : '[]');

export function coverageStatus(actors: number): CoverageStatus {
  if (actors >= COVERED) return 'covered';
  return actors > 0 ? 'thin' : 'missing';
}

function outlineOf(taxonomy: Taxonomy): Outline {
  const had = outlines.get(taxonomy);
  if (had) return had;
  const tags = [...ACTOR_TYPES.map((type) => `t:${type}`), ...taxonomy.issueAreas.map(({ slug }) => `i:${slug}`)];
  const outline = {
    numbers: new Map(tags.map((tag, index) => [tag, index])),
    areas: taxonomy.issueAreas.map(({ slug, domain }) => {
      const start = `{"issue_area":"${slug}","domain":"${domain.slug}","entity_count":`;
      return { slug, domain: domain.slug, start, missing: `${start}0,"source_count":0,"status":"missing"}` };
    }),
    domains: taxonomy.domains.map(({ slug }) => slug),
  };
  outlines.set(taxonomy, outline);
  return outline;
}

function counted(standings: PlaceStanding[], numbers: Map<string, number>, day: number): Counts {
  const actors = new Uint32Array(numbers.size);
  const sources = new Uint32Array(numbers.size);
  const freshness = { fresh: 0, aging: 0, stale: 0, unknown: 0 };
  // By source, the tags it was counted for: nearly always those of the one actor that has it.
  const countedFor = new Map<string, number[]>();
  for (const standing of standings) {
    freshness[freshnessOn(day, standing)] += 1;
    const own: number[] = [];
    for (const tag of standing.tags.split(' ')) {
      const number = numbers.get(tag);
      if (number !== undefined) own.push(number);
    }
    for (const number of own) actors[number]! += 1;
    for (const source of standing.sources.split(' ')) {
      if (source === '') continue;
      const had = countedFor.get(source);
      const fresh = had ? own.filter((number) => !had.includes(number)) : own;
      for (const number of fresh) sources[number]! += 1;
      if (!had || fresh.length > 0) countedFor.set(source, had ? [...had, ...fresh] : own);
    }
  }
  return { actors, sources, allSources: countedFor.size, freshness };
}
