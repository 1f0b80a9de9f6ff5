import type { Range } from 'civic/reader';
import type { FoundClaim } from './types.ts';

/** Creates the claim that a person has a role at an organization, which may not be known yet. */
export function affiliationClaim(name: string, role: string | null, { start, end }: Range): FoundClaim {
  return { property: 'affiliation', value: { entity_id: null, name, role, since: null, until: null }, start, end };
}
