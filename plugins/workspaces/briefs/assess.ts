import type { FreshnessStatus } from 'civic/directory';

export const GAP_TYPES = ['missing_coverage', 'thin_coverage', 'no_sources', 'aging_source', 'stale_source', 'broken_source', 'unavailable_source', 'unavailable_entity'] as const;
export type GapType = (typeof GAP_TYPES)[number];

/** Something that a brief cannot rely on. */
export interface Gap {
  type: GapType;
  place: string | null;
  issue_area: string | null;
  source_id: string | null;
  entity_id: string | null;
}

export interface AssessedSource {
  id: string;
  freshness: FreshnessStatus;
  isBroken: boolean;
}

export interface AssessedScope {
  places: string[];
  issue_areas: string[];
  /** How many public actors work on issue areas of the places, by place key and slug. */
  actors: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

type CellStatus = 'covered' | 'thin' | 'missing';

interface Cell {
  place: string;
  issue_area: string | null;
  status: CellStatus;
}

const COVERAGE_WEIGHT: Record<CellStatus, number> = { covered: 1, thin: 0.5, missing: 0 };
const FRESHNESS_WEIGHT: Record<FreshnessStatus, number> = { fresh: 1, aging: 0.6, unknown: 0.4, stale: 0.2 };
/** The directory counts an issue area of a place as covered from this number of actors on. */
const COVERED_FROM = 3;
const NONE = { place: null, issue_area: null, source_id: null, entity_id: null };

/**
 * Returns the confidence of a brief, from 0 to 1: half of it is the coverage of its scope, half the freshness of its sources. Without places
 * in the scope the freshness decides alone; without sources it is 0.
 */
export function confidenceOf(scope: AssessedScope, sources: AssessedSource[]): number {
  const cells = cellsOf(scope);
  const freshness = mean(sources.map((source) => (source.isBroken ? 0 : FRESHNESS_WEIGHT[source.freshness])));
  const confidence = cells.length === 0 ? freshness : (mean(cells.map(({ status }) => COVERAGE_WEIGHT[status])) + freshness) / 2;
  return Math.round(confidence * 100) / 100;
}

/** Returns the gaps of a brief: of coverage, then of sources, then of entities. */
export function gapsOf(scope: AssessedScope, sources: AssessedSource[], unavailable: { sources: string[]; entities: string[] }): Gap[] {
  return [
    ...cellsOf(scope).flatMap(({ place, issue_area, status }): Gap[] => (status === 'covered' ? [] : [{ ...NONE, type: `${status}_coverage`, place, issue_area }])),
    ...(sources.length === 0 ? [{ ...NONE, type: 'no_sources' as const }] : []),
    ...sources.flatMap((source): Gap[] => {
      const type = sourceGap(source);
      return type ? [{ ...NONE, type, source_id: source.id }] : [];
    }),
    ...unavailable.sources.map((source_id): Gap => ({ ...NONE, type: 'unavailable_source', source_id })),
    ...unavailable.entities.map((entity_id): Gap => ({ ...NONE, type: 'unavailable_entity', entity_id })),
  ];
}

function sourceGap({ isBroken, freshness }: AssessedSource): GapType | null {
  if (isBroken) return 'broken_source';
  return freshness === 'stale' || freshness === 'aging' ? `${freshness}_source` : null;
}

/** Returns the state of each issue area in each place. When the scope has no issue areas, it is that of the best one of each place. */
function cellsOf({ places, issue_areas, actors }: AssessedScope): Cell[] {
  return places.flatMap((place): Cell[] => {
    const counts = actors.get(place) ?? new Map<string, number>();
    if (issue_areas.length === 0) return [{ place, issue_area: null, status: statusOf(Math.max(0, ...counts.values())) }];
    return issue_areas.map((issue_area) => ({ place, issue_area, status: statusOf(counts.get(issue_area) ?? 0) }));
  });
}

function statusOf(actors: number): CellStatus {
  if (actors >= COVERED_FROM) return 'covered';
  return actors > 0 ? 'thin' : 'missing';
}

function mean(values: number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
