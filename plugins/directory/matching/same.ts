import type { Reader } from 'civic';
import type { FieldPolicy } from '../policy/fields.ts';
import type { ActorDraft } from '../types.ts';
import { keptBlocks, MOST_IN_BLOCK, type KeptBlock } from './block.ts';
import { judge } from './judge.ts';
import { knownActors, type KnownActor } from './known.ts';
import { prepare, profileOfDraft } from './profile.ts';
import { actorsInBlocks, type HolderRow } from './store.ts';

/** An actor that was just entered and is nowhere to be found yet. */
export interface NewActor extends Omit<HolderRow, 'type'> {
  draft: ActorDraft;
}

/** A new actor with the one it surely is. */
export interface Same {
  actor: NewActor;
  into: Pick<HolderRow, 'key' | 'id'>;
  reason: string;
  score: number;
}

const MOST_LOOKED_AT = 6;
/** What is surely the same shares an identifier, an address, or more than one block. */
const LEAST_SHARED = 2;

type Blocks = Map<number, number[]>;

/** Finds which of these are surely actors that are there, or that stand before them in the same set. */
export async function surelySame(reader: Reader, actors: NewActor[], workspaceId: string | null, policy: FieldPolicy): Promise<Same[]> {
  const prepared = actors.map(({ draft }) => prepare(profileOfDraft(draft)));
  const blocks = prepared.map(keptBlocks);
  const there = await holdersOf(reader, blocks, workspaceId);
  const near = blocks.map((own) => worthLookingAt(own, there));
  const known = await knownActors(reader, [...new Set(near.flat())], workspaceId, policy);
  const before: Blocks = new Map();
  const found = new Map<number, Same>();
  for (const [index, actor] of actors.entries()) {
    const self: KnownActor = { ...actor, type: actor.draft.type, prepared: prepared[index]! };
    const others = [...near[index]!, ...worthLookingAt(blocks[index]!, before)].flatMap((key) => known.get(key) ?? []);
    const same = surest(self, others);
    // The other may itself have turned out to be a third.
    if (same) found.set(self.key, { ...same, actor, into: found.get(same.into.key)?.into ?? same.into });
    known.set(self.key, self);
    for (const { block } of blocks[index]!) before.set(block, [...before.get(block) ?? [], self.key]);
  }
  return [...found.values()];
}

async function holdersOf(reader: Reader, blocks: KeptBlock[][], workspaceId: string | null): Promise<Blocks> {
  const holders: Blocks = new Map();
  for (const { block, actor_key: key } of await actorsInBlocks(reader, [...new Set(blocks.flat().map(({ block }) => block))], MOST_IN_BLOCK, workspaceId)) {
    const keys = holders.get(block);
    if (keys) keys.push(key);
    else holders.set(block, [key]);
  }
  return holders;
}

function worthLookingAt(blocks: KeptBlock[], holders: Blocks): number[] {
  const shared = new Map<number, number>();
  for (const { block, isTelling } of blocks) for (const key of holders.get(block) ?? []) shared.set(key, (shared.get(key) ?? 0) + (isTelling ? LEAST_SHARED : 1));
  return [...shared].filter(([, share]) => share >= LEAST_SHARED).sort(([a, less], [b, more]) => more - less || a - b).slice(0, MOST_LOOKED_AT).map(([key]) => key);
}

function surest(self: KnownActor, others: KnownActor[]): Omit<Same, 'actor'> | null {
  const matches = others
    // What is private is not joined with what is public.
    .filter(({ visibility, workspace_id }) => visibility === self.visibility && (visibility === 'public' || workspace_id === self.workspace_id))
    .map((other) => ({ other, verdict: judge(self.prepared, other.prepared) }))
    .filter(({ verdict }) => verdict.zone === 'match')
    .sort((a, b) => b.verdict.probability - a.verdict.probability || a.other.key - b.other.key);
  const [best] = matches;
  if (!best) return null;
  const { rule, probability, explanation } = best.verdict;
  const agreeing = explanation.filter(({ weight }) => weight > 0).map(({ field }) => field).join(', ');
  return { into: best.other, reason: rule ?? `They agree on ${agreeing}`, score: Math.round(1000 * probability) / 1000 };
}
