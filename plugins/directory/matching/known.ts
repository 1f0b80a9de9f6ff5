import type { Reader } from 'civic';
import { groupBy } from '../ledger/group.ts';
import { sourcesByKey } from '../ledger/store.ts';
import type { FieldPolicy } from '../policy/fields.ts';
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
export async function knownActors(reader: Reader, keys: number[], workspaceId: string | null, policy: FieldPolicy): Promise<Map<number, KnownActor>> {
  const holders = (await holdersByKey(reader, keys)).filter(({ visibility, workspace_id: owner }) => visibility === 'public' || (owner !== null && owner === workspaceId));
  const claims = groupBy(await withoutHidden(reader, holders, await comparedClaims(reader, holders.map(({ key }) => key)), policy), ({ actor_key }) => actor_key);
  return new Map(holders.map((holder) => [holder.key, { ...holder, prepared: prepare(profileOfClaims(holder.type, claims.get(holder.key) ?? [])) }]));
}

/** Leaves out claims that the policy hides: a comparison must not reveal them. */
export async function withoutHidden<Claim extends ComparedClaim & { actor_key: number; source_key: number }>(reader: Reader, actors: Pick<HolderRow, 'key' | 'type' | 'visibility'>[], claims: Claim[], policy: FieldPolicy): Promise<Claim[]> {
  const byKey = new Map(actors.map((actor) => [actor.key, actor]));
  const policed = claims.filter(({ actor_key, property }) => policy.ruleOf(byKey.get(actor_key)!.type, property) !== 'public');
  if (policed.length === 0) return claims;
  const sources = new Map((await sourcesByKey(reader, [...new Set(policed.map(({ source_key }) => source_key))])).map((source) => [source.key, source]));
  const hidden = new Set(policed.filter(({ actor_key, property, source_key }) => policy.hides(byKey.get(actor_key)!, property, sources.get(source_key)!)));
  return claims.filter((claim) => !hidden.has(claim));
}
