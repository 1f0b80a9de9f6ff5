import type { DirectoryContext } from '../actors/context.ts';
import { relatedEntities } from '../actors/part-reads.ts';
import { placeCoverage } from '../actors/place-reads.ts';
import { actorDetail, searchEntities, shownActor } from '../actors/reads.ts';
import { placeOfPath } from '../places/routes.ts';
import type { Place } from '../places/schemas.ts';
import type { Actor, ActorDetail, FreshnessStatus, Source } from '../types.ts';
import type { DirectoryService } from './service.ts';

export type ActorWithSources = Actor & { sources: Source[] };

/** As it is answered. */
export interface Coverage {
  place: Place;
  entity_count: number;
  source_count: number;
  by_type: { type: string; count: number }[];
  issue_counts: { issue_area: string; domain: string; entity_count: number; source_count: number; status: 'covered' | 'thin' | 'missing' }[];
  covered_issue_areas: string[];
  thin_issue_areas: string[];
  missing_issue_areas: string[];
  uncovered_domains: string[];
  freshness: Record<FreshnessStatus, number>;
  generated_at: string;
}

const LATEST = { include: ['sources'], mostSources: 3 } as const;

/** The reads of the API, for other plugins. */
export function offeredReads(context: DirectoryContext): Pick<DirectoryService, 'search' | 'detail' | 'related' | 'coverage'> {
  const { civic, places } = context;
  return {
    async search(query, limit) {
      const { data, total } = await searchEntities(context, { query: { query, sort: 'relevance', facets: false }, limit, after: null }, null, LATEST);
      return { actors: data.map((text) => JSON.parse(text) as ActorWithSources), total };
    },
    async detail(id, caller) {
      const { body } = await actorDetail(context, (reader) => shownActor(reader, caller, id, civic.url));
      return JSON.parse(body) as ActorDetail;
    },
    async related(id, caller, limit) {
      const { data } = await civic.db.snapshot(async (tx) => relatedEntities(context, tx, await shownActor(tx, caller, id, civic.url), { limit, after: null }));
      return data.map((text) => JSON.parse(text));
    },
    coverage: async (place) => JSON.parse((await placeCoverage(context, await placeOfPath(places, civic.db, place))).body) as Coverage,
  };
}
