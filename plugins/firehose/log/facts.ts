import { audienceOf, type Audience } from '../query/visibility.ts';
import type { ActorType, Signal, SignalType, SourceClass } from '../types.ts';

/** When something occurred that has no time: before everything. */
export const NEVER = -8_640_000_000_000_000;

/** What a query can ask of a signal, kept beside its text so that nobody parses that again. */
export interface Facts {
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

export function factsOf(signal: Signal, workspaceId: string | null): Facts {
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
