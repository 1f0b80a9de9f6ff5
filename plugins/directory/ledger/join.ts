import { lazily, newId, type Tx } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import type { Same } from '../matching/same.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { ActorDraft, Editor } from '../types.ts';
import { groupBy } from './group.ts';
import { insertJudgements } from './judgements-store.ts';
import type { ChangeDetail } from './rows.ts';
import { insertChanges, lockActors, recordsByKey, updateRecords } from './store.ts';

const loadSame = lazily(() => import('../matching/same.ts'));

/**
 * Makes records that were just entered one with actors that are surely the same, before anything is worked out from them.
 * Each keeps its record, and a judgement says why, so that it can be taken back.
 */
export async function joinNew(tx: Tx, created: { cluster: Cluster; draft: ActorDraft }[], editor: Editor, now: string, policy: FieldPolicy): Promise<Same[]> {
  if (created.length === 0) return [];
  const { surelySame } = await loadSame();
  const actors = created.map(({ cluster, draft }) => ({ ...cluster.records[0]!, draft }));
  // Private actors, even those of the editor's workspace, do not affect public ones.
  const found = await surelySame(tx, actors, actors.every(({ visibility }) => visibility === 'public') ? null : editor.workspace_id, policy);
  const joins = await stillThere(tx, found);
  if (joins.length === 0) return [];
  const by = { by_kind: editor.kind, account_id: editor.account_id, at: now };
  await insertJudgements(tx, joins.map(({ actor, into, reason, score }) => ({ id: newId(), left_key: actor.key, right_key: into.key, verdict: 'same', reason, score, ...by, deleted_at: null })));
  for (const [key, same] of groupBy(joins, ({ into }) => into.key)) await updateRecords(tx, same.map(({ actor }) => actor.key), { actor_key: key });
  await updateRecords(tx, joins.flatMap(({ actor, into }) => [actor.key, into.key]), { updated_at: now });
  await insertChanges(tx, joins.flatMap(({ actor, into, reason }) => [
    { record_key: actor.key, action: 'merged' as const, ...by, detail: JSON.stringify({ into: into.id, reason } satisfies ChangeDetail) },
    { record_key: into.key, action: 'merged' as const, ...by, detail: JSON.stringify({ from: [actor.id], reason } satisfies ChangeDetail) },
  ]));
  return joins;
}

/** Somebody may have merged or deleted the other one meanwhile; from here on nobody does. */
async function stillThere(tx: Tx, joins: Same[]): Promise<Same[]> {
  const keys = [...new Set(joins.map(({ into }) => into.key))];
  await lockActors(tx, keys);
  const standing = new Set((await recordsByKey(tx, keys)).filter(({ key, actor_key, deleted_at }) => key === actor_key && deleted_at === null).map(({ key }) => key));
  return joins.filter(({ into }) => standing.has(into.key));
}
