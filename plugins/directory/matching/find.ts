import type { Reader, Tx } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import { policedActor } from '../actors/detail.ts';
import { actorsByKey, type ShownActor } from '../actors/read-store.ts';
import { groupBy } from '../ledger/group.ts';
import { differentBetween } from '../ledger/judgements-store.ts';
import { ownerOf } from '../ledger/owner.ts';
import { recordsOfActors } from '../ledger/store.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { ActorType } from '../types.ts';
import { keptBlocks, MOST_IN_BLOCK } from './block.ts';
import { judge, type Verdict } from './judge.ts';
import { knownActors, profileOfClaims, withoutHidden } from './known.ts';
import { prepare, type MatchProfile } from './profile.ts';
import { actorsInBlocks, comparedClaims, deleteBlocks, insertBlocks } from './store.ts';

/** An actor that may be the one in question. */
export interface Candidate {
  actor: ShownActor;
  verdict: Verdict;
}

/** Of those that share blocks, the ones that share most are looked at. */
const MOST_LOOKED_AT = 20;

/** Keeps the blocking keys of actors, in the transaction that changes them. */
export async function putBlocks(tx: Tx, clusters: { cluster: Cluster; type: ActorType }[], before: number[]): Promise<void> {
  await deleteBlocks(tx, before);
  await insertBlocks(tx, clusters.flatMap(({ cluster, type }) => keptBlocks(prepare(profileOfClaims(type, cluster.claims))).map(({ block }) => ({ block, actor_key: cluster.key, workspace_id: ownerOf(cluster.records[0]!) }))));
}

/** The actors that may be the one of this profile, surest first: public ones, and the workspace's own. */
export async function findDuplicates(reader: Reader, profile: MatchProfile, workspaceId: string | null, policy: FieldPolicy): Promise<Candidate[]> {
  const wanted = prepare(profile);
  const held = await actorsInBlocks(reader, keptBlocks(wanted).map(({ block }) => block), MOST_IN_BLOCK, workspaceId);
  const known = await knownActors(reader, mostShared(held.map(({ actor_key }) => actor_key)), workspaceId, policy);
  const verdicts = new Map<number, Verdict>();
  for (const { key, prepared } of known.values()) {
    const verdict = judge(wanted, prepared);
    if (verdict.zone !== 'no') verdicts.set(key, verdict);
  }
  const found = (await actorsByKey(reader, [...verdicts.keys()])).map((actor) => ({ actor, verdict: verdicts.get(actor.key)! }));
  return found.sort((a, b) => Number(b.verdict.zone === 'match') - Number(a.verdict.zone === 'match') || b.verdict.probability - a.verdict.probability || a.actor.key - b.actor.key);
}

function mostShared(keys: number[]): number[] {
  const times = [...groupBy(keys, (key) => key)].map(([key, all]) => ({ key, times: all.length }));
  return times.sort((a, b) => b.times - a.times || a.key - b.key).slice(0, MOST_LOOKED_AT).map(({ key }) => key);
}

/** The actors that may be this one, but for those somebody said it is not. */
export async function duplicatesOf(reader: Reader, actor: ShownActor, workspaceId: string | null, policy: FieldPolicy): Promise<Candidate[]> {
  const own = await recordsOfActors(reader, [actor.key]);
  const { type } = policedActor(actor);
  const claims = await withoutHidden(reader, [{ key: actor.key, type, visibility: actor.visibility }], await comparedClaims(reader, [actor.key]), policy);
  const found = await findDuplicates(reader, profileOfClaims(type, claims), workspaceId, policy);
  const candidates: Candidate[] = [];
  for (const candidate of found.filter((one) => one.actor.key !== actor.key)) {
    const others = await recordsOfActors(reader, [candidate.actor.key]);
    if (!await differentBetween(reader, own.map(({ key }) => key), others.map(({ key }) => key))) candidates.push(candidate);
  }
  return candidates;
}
