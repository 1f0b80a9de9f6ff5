import type { Reader } from 'civic';
import { groupBy } from '../ledger/group.ts';
import type { ActorType } from '../types.ts';
import { prepare, profileOfDraft, type MatchProfile, type Prepared } from './profile.ts';
import { comparedClaims, holdersByKey, type ComparedClaim, type HolderRow } from './store.ts';

/** An actor that is there, ready to be compared. */
export interface KnownActor extends HolderRow {
  prepared: Prepared;
}

export function profileOfClaims(type: ActorType, claims: ComparedClaim[]): MatchProfile {
  return profileOfDraft({ type, claims: claims.map(({ property, value, rank, status }) => ({ property, value: JSON.parse(value), rank, status })) });
}

/** Of these actors those that everybody may see, and the workspace's own. */
export async function knownActors(reader: Reader, keys: number[], workspaceId: string | null): Promise<Map<number, KnownActor>> {
  const holders = (await holdersByKey(reader, keys)).filter(({ visibility, workspace_id: owner }) => visibility === 'public' || (owner !== null && owner === workspaceId));
  const claims = groupBy(await comparedClaims(reader, holders.map(({ key }) => key)), ({ actor_key }) => actor_key);
  return new Map(holders.map((holder) => [holder.key, { ...holder, prepared: prepare(profileOfClaims(holder.type, claims.get(holder.key) ?? [])) }]));
}
