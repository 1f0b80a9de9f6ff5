import { audienceOf, type Audience } from '../query/visibility.ts';
import type { ActorType, Signal, SignalType, SourceClass } from '../types.ts';

/** Sorts signals without `occurred_at` before all others. */
export const NEVER = -8_640_000_000_000_000;

/** The fields of a signal that queries compare. Stored beside its JSON, in the column `facts`, so that the JSON need not be parsed. */
export interface QueryFields {
  type: SignalType;
  source_class: SourceClass;
  audience: Audience;
  places: string[];
  issues: string[];
  actor_types: ActorType[];
  /** Milliseconds. */
  detected: number;
  occurred: number;
  relevance: number;
}

export function queryFieldsOf(signal: Signal, workspaceId: string | null): QueryFields {
  return {
    type: signal.type,
    source_class: signal.source_class,
    audience: audienceOf(signal, workspaceId),
    places: signal.places,
    issues: signal.issues,
    actor_types: [...new Set(signal.actors.map(({ type }) => type))],
    detected: Date.parse(signal.detected_at),
    occurred: signal.occurred_at === null ? NEVER : Date.parse(signal.occurred_at),
    relevance: signal.relevance,
  };
}
