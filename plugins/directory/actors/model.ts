import { STAMPS, type FieldPolicy } from '../policy/fields.ts';
import { deriveActor, type Cluster, type Derived, type Known } from './derive.ts';

/** How actors are stored for reading. */
export interface ActorModel {
  version: number;
  derive(cluster: Cluster, known: Known): Derived | null;
}

/**
 * Raise the version when the same claims give other rows: another field of the body, other tags, words, blocks or counters.
 * The rows of existing databases are then rebuilt.
 */
export const actorModel: ActorModel = { version: 4, derive: deriveActor };

/** Returns the model with the version that its rows have: it holds the policy, too, so that rows of another policy are recognized. */
export function modelUnder(model: ActorModel, policy: Pick<FieldPolicy, 'stamp'>): ActorModel {
  return { ...model, version: model.version * STAMPS + policy.stamp };
}

/** All that `project` fills. */
export const ACTOR_TABLES = [
  'directory_actors', 'directory_listings', 'directory_place_sources', 'directory_counts', 'directory_blocks', 'directory_search', 'directory_terms', 'directory_term_deletions',
];
