import type { Reader, Tx } from 'civic';
import { actorsByKey, type ShownActor } from '../actors/read-store.ts';
import type { Cluster } from '../actors/derive.ts';
import { groupBy } from '../ledger/group.ts';
import { differentBetween } from '../ledger/judgements-store.ts';
import type { ClaimRow } from '../ledger/rows.ts';
import type { Ledger } from '../ledger/service.ts';
import { claimsOfRecords, recordsById, recordsOfActors } from '../ledger/store.ts';
import type { ActorDraft, ActorType, Editor } from '../types.ts';
import { blockNumber, blocks, MOST_IN_BLOCK } from './block.ts';
import { judge, type Verdict } from './judge.ts';
import { prepare, profileOfDraft, type MatchProfile, type Prepared } from './profile.ts';
import { actorsInBlocks, deleteBlocks, insertBlocks } from './store.ts';

/** An actor that may be the one in question. */
export interface Candidate {
  actor: ShownActor;
  verdict: Verdict;
}

/** Of those that share blocks, the ones that share most are looked at. What is surely the same shares nearly all. */
const MOST_LOOKED_AT = 20;
const MOST_JOINED_FROM = 6;

/** Keeps the blocking keys of actors, in the transaction that changes them. */
export async function putBlocks(tx: Tx, clusters: { cluster: Cluster; type: ActorType }[], before: number[]): Promise<void> {
  await deleteBlocks(tx, before);
  await insertBlocks(tx, clusters.flatMap(({ cluster, type }) => numbersOf(prepare(profileOfClaims(type, cluster.claims))).map((block) => ({ block, actor_key: cluster.key }))));
}

const numbersOf = (actor: Prepared): number[] => [...new Set(blocks(actor).map(blockNumber))];

export function profileOfClaims(type: ActorType, claims: ClaimRow[]): MatchProfile {
  return profileOfDraft({ type, claims: claims.map(({ property, value, rank, status }) => ({ property, value: JSON.parse(value), rank, status })) });
}

/** For each profile the actors that may be the same, surest first: public ones, and the workspace's own. */
export async function findDuplicates(reader: Reader, profiles: MatchProfile[], workspaceId: string | null, most = MOST_LOOKED_AT): Promise<Candidate[][]> {
  const wanted = profiles.map((profile) => prepare(profile));
  const numbers = wanted.map(numbersOf);
  const holders = groupBy(await actorsInBlocks(reader, [...new Set(numbers.flat())], MOST_IN_BLOCK), ({ block }) => block);
  const near = numbers.map((own) => mostShared(own.flatMap((block) => (holders.get(block) ?? []).map(({ actor_key }) => actor_key)), most));
  const known = await knownActors(reader, [...new Set(near.flat())], workspaceId);
  return wanted.map((actor, index) => near[index]!.flatMap((key): Candidate[] => {
    const other = known.get(key);
    const verdict = other && judge(actor, other.prepared);
    return verdict && verdict.zone !== 'no' ? [{ actor: other.actor, verdict }] : [];
  }).sort((a, b) => Number(b.verdict.zone === 'match') - Number(a.verdict.zone === 'match') || b.verdict.probability - a.verdict.probability || a.actor.key - b.actor.key));
}

function mostShared(keys: number[], most: number): number[] {
  const times = new Map<number, number>();
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  return [...times].sort(([a, many], [b, more]) => more - many || a - b).slice(0, most).map(([key]) => key);
}

async function knownActors(reader: Reader, keys: number[], workspaceId: string | null): Promise<Map<number, { actor: ShownActor; prepared: Prepared }>> {
  const actors = (await actorsByKey(reader, keys)).filter(({ visibility, workspace_id: owner }) => visibility === 'public' || (owner !== null && owner === workspaceId));
  const records = await recordsOfActors(reader, actors.map(({ key }) => key));
  const claims = groupBy(await claimsOfRecords(reader, records.map(({ key }) => key)), ({ record_key }) => record_key);
  const byActor = groupBy(records, ({ actor_key }) => actor_key);
  return new Map(actors.map((actor) => {
    const own = (byActor.get(actor.key) ?? []).flatMap(({ key }) => claims.get(key) ?? []);
    const { type } = JSON.parse(actor.body) as { type: ActorType };
    return [actor.key, { actor, prepared: prepare(profileOfClaims(type, own)) }];
  }));
}

/** The actors that may be this one, but for those somebody said it is not. */
export async function duplicatesOf(reader: Reader, actor: ShownActor, workspaceId: string | null): Promise<Candidate[]> {
  const own = await recordsOfActors(reader, [actor.key]);
  const { type } = JSON.parse(actor.body) as { type: ActorType };
  const [found = []] = await findDuplicates(reader, [profileOfClaims(type, await claimsOfRecords(reader, own.map(({ key }) => key)))], workspaceId);
  const candidates: Candidate[] = [];
  for (const candidate of found.filter((one) => one.actor.key !== actor.key)) {
    const others = await recordsOfActors(reader, [candidate.actor.key]);
    if (!await differentBetween(reader, own.map(({ key }) => key), others.map(({ key }) => key))) candidates.push(candidate);
  }
  return candidates;
}

/**
 * Joins actors that were just entered with those that were there, where that is sure. Each keeps its own record, and the
 * judgement says why, so that it can be taken back. Answers which id goes on under which.
 */
export async function joinDuplicates(tx: Tx, ledger: Pick<Ledger, 'judge'>, entered: { id: string; draft: ActorDraft }[], editor: Editor): Promise<Map<string, string>> {
  const found = await findDuplicates(tx, entered.map(({ draft }) => profileOfDraft(draft)), editor.workspace_id, MOST_JOINED_FROM + 1);
  const records = new Map((await recordsById(tx, entered.map(({ id }) => id))).map((record) => [record.id, record]));
  const joined = new Map<string, string>();
  for (const [index, { id }] of entered.entries()) {
    const self = records.get(id)!;
    // Of two that were entered together the later joins the earlier. What is private is not joined with what is public.
    const older = found[index]!.find(({ actor, verdict }) => verdict.zone === 'match' && actor.key < self.key && actor.visibility === self.visibility);
    if (!older) continue;
    const into = joined.get(older.actor.id) ?? older.actor.id;
    const { rule, probability, explanation } = older.verdict;
    const agreeing = explanation.filter(({ weight }) => weight > 0).map(({ field }) => field).join(', ');
    await ledger.judge(tx, { left_id: id, right_id: into, verdict: 'same', reason: rule ?? `They agree on ${agreeing}`, score: Math.round(1000 * probability) / 1000 }, editor);
    joined.set(id, into);
  }
  return joined;
}
