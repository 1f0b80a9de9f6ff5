import { isId, newId, problem, singleLine, reserveKeys, type Clock, type Reader, type Tx } from 'civic';
import { counts } from '../actors/choose.ts';
import type { Editor } from '../types.ts';
import { claimRow, identityOf, seenAgain } from './claims.ts';
import { clustersOf } from './cluster.ts';
import { formerClaims, withSameValue } from './hidden.ts';
import { forgetHeld, withoutHolds } from './holds-store.ts';
import { differentBetween, endJudgement, insertJudgements, judgementById, judgementsAmong, standingBetween } from './judgements-store.ts';
import type { ChangeAction, ChangeDetail, ClaimRow, RecordRow } from './rows.ts';
import { groupBy } from './group.ts';
import type { NewJudgement, Patch } from './service.ts';
import { publishOrigins } from './origins.ts';
import { ownerOf } from './owner.ts';
import { citationKey, enterSources, publishSources } from './sources.ts';
import { claimsOfRecords, insertChanges, insertClaims, lockToChange, recordsById, recordsByKey, recordsOfActors, replaceClaims, updateRecords } from './store.ts';
import { isFuture } from './times.ts';

/** A write to actors that are there: who writes, and when. */
interface Pen {
  tx: Tx;
  editor: Editor;
  now: string;
}

/** Answers the keys of the actors to be worked out again. */
export interface Edits {
  patch(tx: Tx, id: string, change: Patch, editor: Editor): Promise<number[]>;
  /** States that claims were seen now. */
  confirm(tx: Tx, seen: { claim: ClaimRow; record: RecordRow }[], editor: Editor): Promise<number[]>;
  publish(tx: Tx, id: string, editor: Editor): Promise<number[]>;
  remove(tx: Tx, id: string, editor: Editor, reason: string | null): Promise<number[]>;
  judge(tx: Tx, judgement: NewJudgement, editor: Editor): Promise<number[]>;
  unjudge(tx: Tx, judgementId: string, editor: Editor): Promise<number[]>;
}

/**
 * Returns the record behind an actor's id. A deleted, merged or unknown id is 404, and so, in the same words, is a record
 * that the caller may not see.
 */
export async function actorRecord(reader: Reader, id: string, url: (path: string) => string, sees: (record: RecordRow) => boolean = () => true): Promise<RecordRow> {
  const [found] = isId(id) ? await recordsById(reader, [id.toLowerCase()]) : [];
  const record = found && sees(found) ? found : undefined;
  const [successor] = record && record.actor_key !== record.key ? await recordsByKey(reader, [record.actor_key]) : [];
  if (successor && successor.deleted_at === null && sees(successor)) {
    throw problem('unknown_actor', {
      detail: `The actor ${id} was merged into ${successor.id}.`,
      extra: { merged_into: successor.id },
      headers: { link: `<${url(`/api/entities/${successor.id}`)}>; rel="successor-version"` },
    });
  }
  if (!record || successor || record.deleted_at !== null) throw problem('unknown_actor', { detail: `No actor has the id ${singleLine(id, 100)}.` });
  return record;
}

/** The same for a caller who changes them: locks the actors until the transaction ends. */
export async function lockedRecords(tx: Tx, ids: string[], url: (path: string) => string, sees: (record: RecordRow) => boolean = () => true): Promise<RecordRow[]> {
  const found = await recordsById(tx, ids.filter(isId).map((id) => id.toLowerCase()));
  await lockToChange(tx, found.filter(sees).map(({ actor_key }) => actor_key));
  // They may have become something else while we waited.
  const records: RecordRow[] = [];
  for (const id of ids) records.push(await actorRecord(tx, id, url, sees));
  return records;
}

export function createEdits({ clock, url }: { clock: Clock; url: (path: string) => string }): Edits {
  const pen = (tx: Tx, editor: Editor): Pen => ({ tx, editor, now: clock.iso() });
  const recordOf = async (tx: Tx, id: string) => (await lockedRecords(tx, [id], url))[0]!;
  return {
    async patch(tx, id, change, editor) {
      const record = await recordOf(tx, id);
      return patchActor(pen(tx, editor), record, change);
    },
    async confirm(tx, seen, editor) {
      const now = clock.iso();
      await replaceClaims(tx, seen.map(({ claim }) => ({ ...claim, last_seen_at: claim.last_seen_at > now ? claim.last_seen_at : now })));
      for (const some of groupBy(seen, ({ record }) => record.key).values()) await note(pen(tx, editor), [some[0]!.record], 'updated', { seen_again: some.map(({ claim }) => claim.id) });
      return [...new Set(seen.map(({ record }) => record.actor_key))];
    },
    async publish(tx, id, editor) {
      const record = await recordOf(tx, id);
      if (record.visibility === 'public') throw problem('already_public', { detail: `The actor ${record.id} is public already.` });
      const all = await recordsOfActors(tx, [record.key]);
      const keys = all.map(({ key }) => key);
      await publishSources(tx, keys, clock.iso());
      await publishOrigins(tx, keys, ownerOf(record));
      await updateRecords(tx, keys, { visibility: 'public' });
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
    async judge(tx, judgement, editor) {
      const [left, right] = await lockedRecords(tx, [judgement.left_id, judgement.right_id], url);
      return judge(pen(tx, editor), left!, right!, judgement);
    },
    unjudge: (tx, judgementId, editor) => unjudge(pen(tx, editor), judgementId),
  };
}

async function note({ tx, editor, now }: Pen, records: RecordRow[], action: ChangeAction, detail: ChangeDetail, { isTakenOver = false } = {}): Promise<void> {
  if (!isTakenOver) await updateRecords(tx, records.map(({ key }) => key), { updated_at: now });
  await insertChanges(tx, records.map(({ key }) => ({
    record_key: key, at: now, action, by_kind: editor.kind, account_id: editor.account_id, detail: JSON.stringify(detail),
  })));
}

async function patchActor(pen: Pen, record: RecordRow, change: Patch): Promise<number[]> {
  const { tx, now } = pen;
  const records = await recordsOfActors(tx, [record.key]);
  // Their own status is edited; those that a hold hides are hidden again when the actor is derived.
  const claims = await withoutHolds(tx, await claimsOfRecords(tx, records.map(({ key }) => key)));
  const byId = new Map(claims.map((claim) => [claim.id, claim]));
  const after = new Map<string, ClaimRow>();
  const present = (id: string, pointer: string): ClaimRow => {
    const claim = byId.get(id.toLowerCase());
    if (!claim) throw problem('unknown_claim', { detail: `The actor has no claim ${id.slice(0, 100)}.`, errors: [{ pointer, detail: 'is no claim of the actor' }] });
    return after.get(claim.id) ?? claim;
  };
  const retracted = change.retract.map((id, index) => present(id, `/retract/${index}`)).filter(({ status }) => status !== 'retracted' && status !== 'hidden');
  for (const claim of retracted) after.set(claim.id, { ...claim, status: 'retracted' });
  const hidden = (await withSameValue(claims, (change.hide ?? []).map((id, index) => present(id, `/hide/${index}`)))).filter(({ status }) => status !== 'hidden');
  for (const claim of hidden) after.set(claim.id, { ...claim, status: 'hidden' });
  for (const [index, { claim_id }] of (change.unhide ?? []).entries()) present(claim_id, `/unhide/${index}`);
  const unhidden = formerClaims(claims, change.unhide ?? []);
  for (const claim of unhidden) after.set(claim.id, claim);
  const restored = (change.restore ?? []).map((id, index) => present(id, `/restore/${index}`)).filter(({ status }) => status === 'retracted');
  for (const claim of restored) after.set(claim.id, { ...claim, status: 'active' });
  const ranked = change.rank.map(({ claim_id, rank }, index) => ({ before: present(claim_id, `/rank/${index}/claim_id`), rank })).filter(({ before, rank }) => before.rank !== rank);
  for (const { before, rank } of ranked) after.set(before.id, { ...before, rank });
  await replaceClaims(tx, [...after.values()]);
  // The end of a hold would show them again.
  await forgetHeld(tx, hidden.map(({ key }) => key));
  const added = await addClaims(pen, record, claims, change);
  if (added.length + after.size === 0) return [];
  await refuseNameless(tx, records, now);
  await note(pen, [record], 'updated', {
    added: [...added, ...[...restored, ...unhidden].map(({ id }) => id)],
    retracted: [...retracted, ...hidden].map(({ id }) => id),
    ranked: ranked.map(({ before, rank }) => ({ claim_id: before.id, before: before.rank, after: rank })),
  });
  return [record.key];
}

/** Whatever is taken back, something must be left to call the actor by. */
async function refuseNameless(tx: Tx, records: RecordRow[], now: string): Promise<void> {
  const claims = await claimsOfRecords(tx, records.map(({ key }) => key));
  for (const property of ['name', 'type'] as const) {
    if (!claims.some((claim) => claim.property === property && counts(claim, now))) {
      throw problem('claim_needed', { detail: `Without this claim the actor would have no ${property}: add another one in the same request.` });
    }
  }
}

async function addClaims({ tx, editor, now }: Pen, record: RecordRow, claims: ClaimRow[], { sources, add }: Patch): Promise<string[]> {
  const owner = ownerOf(record);
  const cited = await enterSources(tx, sources.map((draft) => ({ draft, owner })), now);
  const urls = new Map(sources.map(({ local_id, url }) => [local_id, url]));
  const known = new Map(claims.map((claim) => [identityOf(claim), claim]));
  const keys = await reserveKeys(tx, 'directory_claims', add.length);
  const fresh: ClaimRow[] = [];
  const again: ClaimRow[] = [];
  add.forEach((draft, index) => {
    const source = cited.get(citationKey(owner, urls.get(draft.source_local_id)!))!;
    const row = claimRow(keys[index]!, { draft, record_key: record.key, source_key: source.key, retrieved_at: source.retrieved_at }, editor);
    const same = known.get(identityOf(row));
    if (!same) {
      fresh.push(row);
      known.set(identityOf(row), { ...row, key: 0 });
    } else if (same.key === 0) return;
    else if (same.status === 'retracted') again.push({ ...seenAgain(same, row, draft), status: 'active' });
    else if (seenAgain(same, row, draft) !== same) again.push(seenAgain(same, row, draft));
  });
  await insertClaims(tx, fresh);
  await replaceClaims(tx, again);
  return [...fresh, ...again].map(({ id }) => id);
}

async function judge(pen: Pen, left: RecordRow, right: RecordRow, { verdict, reason, score, made }: NewJudgement): Promise<number[]> {
  const { tx, editor, now } = pen;
  if (made && isFuture(made.at, now)) throw problem('invalid_request', { detail: `The judgement was made at ${made.at}, which is in the future.` });
  if (left.key === right.key) throw problem('same_actor', { detail: 'An actor cannot be compared with itself.' });
  if (ownerOf(left) !== ownerOf(right)) {
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
  await insertJudgements(tx, [{
    id: newId(), at: now, by_kind: editor.kind, ...made, left_key: left.key, right_key: right.key, verdict, reason, score, account_id: editor.account_id, deleted_at: null,
  }]);
  if (verdict !== 'same') return [];
  await updateRecords(tx, keysOf(left), { actor_key: right.key });
  const how = { isTakenOver: made !== undefined };
  await note(pen, [left], 'merged', { into: right.id, reason }, how);
  await note(pen, [right], 'merged', { from: [left.id], reason }, how);
  return [left.key, right.key];
}

/** Records whose actor was erased go on by the judgements that are left. Answers the keys of the actors they are now. */
export async function standAlone(tx: Tx, erasedKeys: number[]): Promise<number[]> {
  const left = await recordsOfActors(tx, [...new Set(erasedKeys)]);
  return partedAnew(tx, left);
}

/** Lets the judgements that stand decide who is one of these. */
async function partedAnew(tx: Tx, records: RecordRow[]): Promise<number[]> {
  const ends = clustersOf(records, await judgementsAmong(tx, records.map(({ key }) => key)));
  for (const { key, actor_key } of records) if (ends.get(key) !== actor_key) await updateRecords(tx, [key], { actor_key: ends.get(key)! });
  return [...new Set(ends.values())];
}

/** Takes a judgement back and lets the remaining ones decide again who is one. */
async function unjudge(pen: Pen, judgementId: string): Promise<number[]> {
  const { tx, now } = pen;
  const found = await judgementById(tx, judgementId);
  if (found) await lockToChange(tx, (await recordsByKey(tx, [found.left_key, found.right_key])).map(({ actor_key }) => actor_key));
  // Somebody may have taken it back while we waited.
  const judgement = found && await judgementById(tx, judgementId);
  if (!judgement || judgement.deleted_at !== null) throw problem('unknown_judgement', { detail: `No judgement has the id ${judgementId.slice(0, 100)}.` });
  await endJudgement(tx, judgement.key, now);
  if (judgement.verdict !== 'same') return [];
  const [left] = await recordsByKey(tx, [judgement.left_key]);
  const actors = await partedAnew(tx, await recordsOfActors(tx, [left!.actor_key]));
  const [survivor] = await recordsByKey(tx, [left!.actor_key]);
  await note(pen, [left!], 'split', { from: [survivor!.id] });
  await note(pen, [survivor!], 'split', { from: [left!.id] });
  return actors;
}
