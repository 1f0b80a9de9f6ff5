import { isId, newId, problem, reserveKeys, type Clock, type Reader, type Tx } from 'civic';
import type { Editor } from '../types.ts';
import { claimRow, identityOf, seenAgain } from './claims.ts';
import { clustersOf } from './cluster.ts';
import { differentBetween, endJudgement, insertJudgement, judgementById, judgementsAmong, standingBetween } from './judgements-store.ts';
import type { ChangeAction, ChangeDetail, ClaimRow, JudgementRow, RecordRow } from './rows.ts';
import type { NewJudgement, Patch } from './service.ts';
import { enterSources } from './sources.ts';
import { claimsOfRecords, insertChanges, insertClaims, recordsById, recordsByKey, recordsOfActors, replaceClaims, updateRecords } from './store.ts';

/** A write to actors that are there: who writes, and when. */
interface Pen {
  tx: Tx;
  editor: Editor;
  now: string;
}

/** Answers the keys of the actors to be worked out again. */
export interface Edits {
  patch(tx: Tx, id: string, change: Patch, editor: Editor): Promise<number[]>;
  publish(tx: Tx, id: string, editor: Editor): Promise<number[]>;
  remove(tx: Tx, id: string, editor: Editor, reason: string | null): Promise<number[]>;
  judge(tx: Tx, judgement: NewJudgement, editor: Editor): Promise<number[]>;
  unjudge(tx: Tx, judgementId: string, editor: Editor): Promise<number[]>;
}

/** The record behind an actor's id. A deleted, merged or unknown one is told as such. */
export async function actorRecord(reader: Reader, id: string, url: (path: string) => string): Promise<RecordRow> {
  const [record] = isId(id) ? await recordsById(reader, [id.toLowerCase()]) : [];
  const [successor] = record && record.actor_key !== record.key ? await recordsByKey(reader, [record.actor_key]) : [];
  if (successor && successor.deleted_at === null) {
    throw problem('unknown_actor', {
      detail: `The actor ${id} was merged into ${successor.id}.`,
      extra: { merged_into: successor.id },
      headers: { link: `<${url(`/api/entities/${successor.id}`)}>; rel="successor-version"` },
    });
  }
  if (!record || successor || record.deleted_at !== null) throw problem('unknown_actor', { detail: `No actor has the id ${id.slice(0, 100)}.` });
  return record;
}

export function createEdits({ clock, url }: { clock: Clock; url: (path: string) => string }): Edits {
  const pen = (tx: Tx, editor: Editor): Pen => ({ tx, editor, now: clock.iso() });
  const recordOf = (tx: Tx, id: string) => actorRecord(tx, id, url);
  return {
    async patch(tx, id, change, editor) {
      const record = await recordOf(tx, id);
      return patchActor(pen(tx, editor), record, change);
    },
    async publish(tx, id, editor) {
      const record = await recordOf(tx, id);
      if (record.visibility === 'public') throw problem('already_public', { detail: `The actor ${record.id} is public already.` });
      const all = await recordsOfActors(tx, [record.key]);
      await updateRecords(tx, all.map(({ key }) => key), { visibility: 'public' });
      await note(pen(tx, editor), all, 'published', {});
      return [record.key];
    },
    async remove(tx, id, editor, reason) {
      const record = await recordOf(tx, id);
      const all = await recordsOfActors(tx, [record.key]);
      await note(pen(tx, editor), all, 'deleted', { reason });
      await updateRecords(tx, all.map(({ key }) => key), { deleted_at: clock.iso() });
      return [record.key];
    },
    judge: async (tx, judgement, editor) => judge(pen(tx, editor), await recordOf(tx, judgement.left_id), await recordOf(tx, judgement.right_id), judgement),
    unjudge: (tx, judgementId, editor) => unjudge(pen(tx, editor), judgementId),
  };
}

async function note({ tx, editor, now }: Pen, records: RecordRow[], action: ChangeAction, detail: ChangeDetail): Promise<void> {
  await updateRecords(tx, records.map(({ key }) => key), { updated_at: now });
  await insertChanges(tx, records.map(({ key }) => ({
    record_key: key, at: now, action, by_kind: editor.kind, account_id: editor.account_id, detail: JSON.stringify(detail),
  })));
}

async function patchActor(pen: Pen, record: RecordRow, change: Patch): Promise<number[]> {
  const { tx, editor, now } = pen;
  const records = await recordsOfActors(tx, [record.key]);
  const claims = await claimsOfRecords(tx, records.map(({ key }) => key));
  const byId = new Map(claims.map((claim) => [claim.id, claim]));
  const named = (id: string): ClaimRow => {
    const claim = byId.get(id.toLowerCase());
    if (!claim) throw problem('unknown_claim', { detail: `The actor has no claim ${id.slice(0, 100)}.` });
    return claim;
  };
  const retracted = change.retract.map(named).filter(({ status }) => status !== 'retracted').map((claim): ClaimRow => ({ ...claim, status: 'retracted' }));
  const ranked = change.rank.map(({ claim_id, rank }) => ({ before: named(claim_id), rank })).filter(({ before, rank }) => before.rank !== rank);
  await replaceClaims(tx, [...retracted, ...ranked.map(({ before, rank }) => ({ ...before, rank }))]);
  const added = await addClaims(pen, record, claims, change);
  const detail: ChangeDetail = {
    added,
    retracted: retracted.map(({ id }) => id),
    ranked: ranked.map(({ before, rank }) => ({ claim_id: before.id, before: before.rank, after: rank })),
  };
  if (added.length + retracted.length + ranked.length === 0) return [];
  await note({ tx, editor, now }, [record], 'updated', detail);
  return [record.key];
}

async function addClaims({ tx, editor, now }: Pen, record: RecordRow, claims: ClaimRow[], { sources, add }: Patch): Promise<string[]> {
  const byUrl = await enterSources(tx, sources, now);
  const urls = new Map(sources.map(({ local_id, url }) => [local_id, url]));
  const known = new Map(claims.map((claim) => [identityOf(claim), claim]));
  const keys = await reserveKeys(tx, 'directory_claims', add.length);
  const fresh: ClaimRow[] = [];
  const again: ClaimRow[] = [];
  add.forEach((draft, index) => {
    const source = byUrl.get(urls.get(draft.source_local_id)!)!;
    const row = claimRow(keys[index]!, { draft, record_key: record.key, source_key: source.key, retrieved_at: source.retrieved_at }, editor);
    const same = known.get(identityOf(row));
    if (!same) fresh.push(row);
    else if (same.status === 'retracted') again.push({ ...seenAgain(same, row, draft), status: 'active' });
    else if (seenAgain(same, row, draft) !== same) again.push(seenAgain(same, row, draft));
  });
  await insertClaims(tx, fresh);
  await replaceClaims(tx, again);
  return [...fresh, ...again].map(({ id }) => id);
}

async function judge(pen: Pen, left: RecordRow, right: RecordRow, { verdict, reason, score }: NewJudgement): Promise<number[]> {
  const { tx, editor, now } = pen;
  if (left.key === right.key) throw problem('same_actor', { detail: 'An actor cannot be compared with itself.' });
  if (left.visibility !== right.visibility || left.workspace_id !== right.workspace_id) {
    throw problem('merge_conflict', { detail: 'One of the two is private: publish it first.' });
  }
  const all = await recordsOfActors(tx, [left.key, right.key]);
  const keysOf = (actor: RecordRow) => all.filter(({ actor_key }) => actor_key === actor.key).map(({ key }) => key);
  if (verdict === 'same') {
    const veto = await differentBetween(tx, keysOf(left), keysOf(right));
    if (veto) throw problem('merge_conflict', { detail: `They were judged to be different (${veto.reason ?? 'no reason given'}): take that judgement back first.`, extra: { judgement_id: veto.id } });
  }
  const standing = await standingBetween(tx, left.key, right.key);
  if (standing) await endJudgement(tx, standing.key, now);
  await insertJudgement(tx, {
    id: newId(), left_key: left.key, right_key: right.key, verdict, reason, score, by_kind: editor.kind, account_id: editor.account_id, at: now, deleted_at: null,
  });
  if (verdict !== 'same') return [];
  await updateRecords(tx, keysOf(left), { actor_key: right.key });
  await note(pen, [left], 'merged', { into: right.id, reason });
  await note(pen, [right], 'merged', { from: [left.id], reason });
  return [left.key, right.key];
}

/** Takes a judgement back and lets the remaining ones decide again who is one. */
async function unjudge(pen: Pen, judgementId: string): Promise<number[]> {
  const { tx, now } = pen;
  const judgement: JudgementRow | undefined = isId(judgementId) ? await judgementById(tx, judgementId.toLowerCase()) : undefined;
  if (!judgement || judgement.deleted_at !== null) throw problem('unknown_judgement', { detail: `No judgement has the id ${judgementId.slice(0, 100)}.` });
  await endJudgement(tx, judgement.key, now);
  if (judgement.verdict !== 'same') return [];
  const [left] = await recordsByKey(tx, [judgement.left_key]);
  const whole = await recordsOfActors(tx, [left!.actor_key]);
  const ends = clustersOf(whole, await judgementsAmong(tx, whole.map(({ key }) => key)));
  const parted = whole.filter(({ key, actor_key }) => ends.get(key) !== actor_key);
  for (const record of parted) await updateRecords(tx, [record.key], { actor_key: ends.get(record.key)! });
  const [survivor] = await recordsByKey(tx, [left!.actor_key]);
  await note(pen, [left!], 'split', { from: [survivor!.id] });
  await note(pen, [survivor!], 'split', { from: [left!.id] });
  return [...new Set(ends.values())];
}
