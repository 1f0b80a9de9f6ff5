import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { WITH_LATEST_SOURCES } from '../actors/detail.ts';
import { placeCoverage } from '../actors/place-reads.ts';
import { actorDetail, searchEntities, shownActor } from '../actors/reads.ts';
import { strongestRelations } from '../actors/related.ts';
import { actorText } from '../actors/wire.ts';
import { placeOfPath } from '../places/routes.ts';
import type { Place } from '../places/schemas.ts';
import type { Actor, ActorDetail, FreshnessStatus, Source } from '../types.ts';
import type { DirectoryService } from './service.ts';

export type ActorWithSources = Actor & { sources: Source[] };

/** The response of `GET /api/places/{place_key}/coverage`. */
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

/** Returns the functions of the service that read as the API does. */
export function offeredReads(context: DirectoryContext): Pick<DirectoryService, 'search' | 'detail' | 'related' | 'coverage'> {
  const { civic, places } = context;
  return {
    async search(query, limit) {
      const page = { query: { query, sort: 'relevance', facets: false }, limit, after: null } as const;
      const { data, total } = await searchEntities(context, page, null, WITH_LATEST_SOURCES);
      return { actors: data.map((text) => JSON.parse(text) as ActorWithSources), total };
    },
    async detail(id, caller) {
      const { body } = await actorDetail(context, (reader) => shownActor(reader, caller, id, civic.url));
      return JSON.parse(body) as ActorDetail;
    },
    async related(id, caller, limit) {
      const related = await civic.db.snapshot(async (tx) => strongestRelations(tx, await shownActor(tx, caller, id, civic.url), context.columns, limit));
      return related.map(({ row, score, evidence }) => ({ entity: JSON.parse(actorText(row, tellingOf(context))) as Actor, score, evidence }));
    },
    coverage: async (place) => JSON.parse((await placeCoverage(context, await placeOfPath(places, civic.db, place))).body) as Coverage,
  };
}
