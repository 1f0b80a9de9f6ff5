export const TARGET_TYPES = ['entity', 'place', 'issue_area', 'query', 'coverage_target'] as const;
export const DELIVERIES = ['digest', 'immediate', 'muted'] as const;

export type TargetType = (typeof TARGET_TYPES)[number];
export type Delivery = (typeof DELIVERIES)[number];

/** Values of one list are alternatives; the lists are conditions that all hold. An empty list is no condition. */
export interface WatchQuery {
  places: string[];
  issues: string[];
  signal_types: string[];
  actor_types: string[];
  source_classes: string[];
}

export type WatchTarget = { type: Exclude<TargetType, 'query'>; id: string } | { type: 'query'; query: WatchQuery };

/** The places and issue areas that a coverage target covers. */
export interface TargetScope {
  places: string[];
  issues: string[];
}

export interface Watch {
  id: string;
  /** `name` is what people call it now; null when it is no longer there. */
  target: WatchTarget & { name: string | null };
  delivery: Delivery;
  created_at: string;
  updated_at: string;
  created_by: string;
}
