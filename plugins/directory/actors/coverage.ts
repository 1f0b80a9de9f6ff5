import type { Reader } from 'civic';
import type { Place } from '../places/schemas.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import { ACTOR_TYPES, type ActorType, type FreshnessStatus } from '../types.ts';
import { tagList } from './derive.ts';
import { dayOf, freshnessOn } from './freshness.ts';
import { sourceKeysOf } from './project.ts';
import { placeStandings, type PlaceStanding } from './read-store.ts';

/** So many actors cover an issue area; fewer are thin. */
const COVERED = 3;

export interface Coverage {
  place: Place;
  entity_count: number;
  source_count: number;
  by_type: { type: ActorType; count: number }[];
  issue_counts: { issue_area: string; domain: string; entity_count: number; source_count: number; status: 'covered' | 'thin' | 'missing' }[];
  covered_issue_areas: string[];
  thin_issue_areas: string[];
  missing_issue_areas: string[];
  uncovered_domains: string[];
  freshness: Record<FreshnessStatus, number>;
  watched_sources: { total: number; healthy: number; failing: number; last_success_at: string | null };
  latest_run: { status: string; completed_at: string } | null;
  generated_at: string;
}

/** What is known of a place and what is missing, by the issue areas of the taxonomy. */
export async function coverageOf(reader: Reader, place: Place, number: number, taxonomy: Taxonomy, now: number): Promise<Coverage> {
  const standings = await placeStandings(reader, number);
  const { byType, byIssue, sources, sourcesByIssue } = counted(standings);
  const issues = taxonomy.issueAreas.map(({ slug, domain }) => {
    const entities = byIssue.get(slug) ?? 0;
    return { issue_area: slug, domain: domain.slug, entity_count: entities, source_count: sourcesByIssue.get(slug)?.size ?? 0, status: statusOf(entities) };
  });
  const withStatus = (status: string) => issues.filter((issue) => issue.status === status).map(({ issue_area }) => issue_area);
  const known = new Set(issues.filter(({ entity_count }) => entity_count > 0).map(({ domain }) => domain));
  const freshness = { fresh: 0, aging: 0, stale: 0, unknown: 0 };
  for (const standing of standings) freshness[freshnessOn(dayOf(now), standing)] += 1;
  return {
    place,
    entity_count: standings.length,
    source_count: sources.size,
    by_type: ACTOR_TYPES.map((type) => ({ type, count: byType.get(type) ?? 0 })),
    issue_counts: issues,
    covered_issue_areas: withStatus('covered'),
    thin_issue_areas: withStatus('thin'),
    missing_issue_areas: withStatus('missing'),
    uncovered_domains: taxonomy.domains.map(({ slug }) => slug).filter((slug) => !known.has(slug)),
    freshness,
    watched_sources: { total: 0, healthy: 0, failing: 0, last_success_at: null },
    latest_run: null,
    generated_at: new Date(now).toISOString(),
  };
}

function statusOf(entities: number): 'covered' | 'thin' | 'missing' {
  if (entities >= COVERED) return 'covered';
  return entities > 0 ? 'thin' : 'missing';
}

interface Counted {
  byType: Map<string, number>;
  byIssue: Map<string, number>;
  sources: Set<number>;
  sourcesByIssue: Map<string, Set<number>>;
}

function counted(standings: PlaceStanding[]): Counted {
  const all: Counted = { byType: new Map(), byIssue: new Map(), sources: new Set(), sourcesByIssue: new Map() };
  for (const standing of standings) {
    const keys = sourceKeysOf(standing);
    for (const key of keys) all.sources.add(key);
    for (const tag of tagList(standing.tags)) {
      const slug = tag.slice(2);
      if (tag.startsWith('t:')) all.byType.set(slug, (all.byType.get(slug) ?? 0) + 1);
      if (!tag.startsWith('i:')) continue;
      all.byIssue.set(slug, (all.byIssue.get(slug) ?? 0) + 1);
      const known = all.sourcesByIssue.get(slug) ?? new Set();
      all.sourcesByIssue.set(slug, known);
      for (const key of keys) known.add(key);
    }
  }
  return all;
}
