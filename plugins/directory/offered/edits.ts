import { isId, problem, singleLine, type Caller, type Reader, type Tx } from 'civic';
import { checkMayChange, editorOf, maySee } from '../access.ts';
import { isShown } from '../actors/choose.ts';
import { actorsByIds } from '../actors/read-store.ts';
import { lockedRecords } from '../ledger/edit.ts';
import { withoutHolds } from '../ledger/holds-store.ts';
import { judgementById, standingBetween } from '../ledger/judgements-store.ts';
import { checkedPatch } from '../ledger/routes.ts';
import type { RecordRow } from '../ledger/rows.ts';
import type { Patch, UrlStatus } from '../ledger/service.ts';
import { claimsOfRecords, recordsById, recordsByKey, recordsOfActors, sourceById, sourcesById } from '../ledger/store.ts';
import type { Directory } from '../service.ts';
import type { Actor, ClaimStatus } from '../types.ts';
import { ownNames } from './actors.ts';

/** Changes on behalf of a reviewer, with the checks and roles of the API, in the transaction of another plugin. */
export interface EditWrites {
  /** Applies an edit. Throws the problems of the API, and `nothing_changed`. Returns what `undoEdit` needs, which can be stored as JSON. */
  edit(tx: Tx, edit: Edit, caller: Caller): Promise<DoneEdit>;
  /** Reverts an edit; what others changed in the meantime stays. Throws `unknown_actor`, `unknown_source` and `unknown_judgement`. */
  undoEdit(tx: Tx, done: DoneEdit, caller: Caller): Promise<void>;
  /** Returns the names of public actors by id; of one that was merged into another, the name in its own record. */
  actorNames(reader: Reader, ids: string[]): Promise<Map<string, string>>;
  /** Returns the titles and addresses of public sources by id. */
  sourceNames(reader: Reader, ids: string[]): Promise<Map<string, { title: string | null; url: string }>>;
}

export type Edit =
  | { kind: 'change'; id: string } & Pick<Patch, 'sources' | 'add' | 'retract' | 'hide'>
  | { kind: 'merge'; id: string; into: string; reason: string | null }
  | { kind: 'source_broken'; id: string };

export type DoneEdit =
  | { kind: 'change'; id: string; added: string[]; retracted: string[]; hidden?: { claim_id: string; status: ClaimStatus }[] }
  | { kind: 'merge'; id: string; into: string; judgement_id: string }
  | { kind: 'source_broken'; id: string; before: UrlStatus };

export function offeredEdits({ civic, ledger }: Directory): EditWrites {
  async function recordsToChange(tx: Tx, ids: string[], caller: Caller): Promise<RecordRow[]> {
    const records = await lockedRecords(tx, ids, civic.url, (one) => maySee(one, caller));
    for (const record of records) checkMayChange(record, caller);
    return records;
  }

  /** Returns the status of the claims of an actor by id. Those that a hold hides have their own: a reviewer can change them. */
  async function statuses(tx: Tx, { key }: RecordRow): Promise<Map<string, ClaimStatus>> {
    const records = await recordsOfActors(tx, [key]);
    const claims = await withoutHolds(tx, await claimsOfRecords(tx, records.map((record) => record.key)));
    return new Map(claims.map(({ id, status }) => [id, status]));
  }

  async function change(tx: Tx, { id, sources, add, retract, hide = [] }: Edit & { kind: 'change' }, caller: Caller): Promise<DoneEdit> {
    const [record] = await recordsToChange(tx, [id], caller);
    const before = await statuses(tx, record!);
    await ledger.patch(tx, record!.id, await checkedPatch(ledger, tx, { sources, add, retract, hide, rank: [] }), editorOf(caller));
    const after = await statuses(tx, record!);
    const changed = [...after].filter(([one, status]) => status !== before.get(one)).map(([one]) => one);
    const added = changed.filter((one) => isShown({ status: after.get(one)! }) && !isShown({ status: before.get(one) ?? 'retracted' }));
    const retracted = changed.filter((one) => after.get(one) === 'retracted');
    const hidden = changed.filter((one) => after.get(one) === 'hidden' && before.has(one)).map((one) => ({ claim_id: one, status: before.get(one)! }));
    if (added.length + retracted.length + hidden.length === 0) throw problem('nothing_changed', { detail: 'The actor has this statement already, or no longer has the one to retract.' });
    return { kind: 'change', id: record!.id, added, retracted, hidden };
  }

  async function merge(tx: Tx, { id, into, reason }: Edit & { kind: 'merge' }, caller: Caller): Promise<DoneEdit> {
    const [left, right] = await recordsToChange(tx, [id, into], caller);
    await ledger.judge(tx, { left_id: left!.id, right_id: right!.id, verdict: 'same', reason, score: null }, editorOf(caller));
    const { id: judgement_id } = (await standingBetween(tx, left!.key, right!.key))!;
    return { kind: 'merge', id: left!.id, into: right!.id, judgement_id };
  }

  async function publicSource(tx: Tx, id: string, caller: Caller) {
    const row = isId(id) ? await sourceById(tx, id.toLowerCase()) : undefined;
    if (!row || row.workspace_id !== null) throw problem('unknown_source', { detail: `No source has the id ${singleLine(id, 100)}.` });
    checkMayChange({ visibility: 'public', workspace_id: null }, caller);
    return row;
  }

  async function markBroken(tx: Tx, id: string, caller: Caller): Promise<DoneEdit> {
    const { id: found, url_status, last_checked_at } = await publicSource(tx, id, caller);
    if (url_status === 'broken') throw problem('nothing_changed', { detail: 'The source is marked as broken already.' });
    await ledger.setUrlStatus(tx, found, { url_status: 'broken', last_checked_at: civic.clock.iso() }, editorOf(caller).kind);
    return { kind: 'source_broken', id: found, before: { url_status, last_checked_at } };
  }

  /** Returns the id under which a record can be changed: that of the actor it was merged into. */
  async function presentId(tx: Tx, id: string): Promise<string> {
    const [record] = await recordsById(tx, [id]);
    const [actor] = record ? await recordsByKey(tx, [record.actor_key]) : [];
    return actor?.id ?? id;
  }

  async function undoMerge(tx: Tx, { judgement_id }: DoneEdit & { kind: 'merge' }, caller: Caller): Promise<void> {
    const judgement = await judgementById(tx, judgement_id);
    const records = judgement ? await recordsByKey(tx, [judgement.left_key, judgement.right_key]) : [];
    for (const record of records) checkMayChange(record, caller);
    await ledger.unjudge(tx, judgement_id, editorOf(caller));
  }

  return {
    async edit(tx, edit, caller) {
      if (edit.kind === 'change') return change(tx, edit, caller);
      return edit.kind === 'merge' ? merge(tx, edit, caller) : markBroken(tx, edit.id, caller);
    },
    async undoEdit(tx, done, caller) {
      if (done.kind === 'merge') return undoMerge(tx, done, caller);
      if (done.kind === 'source_broken') {
        const { url_status } = await publicSource(tx, done.id, caller);
        if (url_status === 'broken') await ledger.setUrlStatus(tx, done.id, done.before, editorOf(caller).kind);
        return;
      }
      const [record] = await recordsToChange(tx, [await presentId(tx, done.id)], caller);
      await ledger.patch(tx, record!.id, { sources: [], add: [], rank: [], retract: done.added, restore: done.retracted, unhide: done.hidden ?? [] }, editorOf(caller));
    },
    async actorNames(reader, ids) {
      const shown = (await actorsByIds(reader, ids)).filter(({ visibility }) => visibility === 'public');
      const names = new Map(shown.map(({ id, body }) => [id, (JSON.parse(body) as Actor).name]));
      const others = (await recordsById(reader, ids.filter((id) => !names.has(id)))).filter(({ visibility }) => visibility === 'public');
      return new Map([...names, ...await ownNames(reader, others.map(({ id }) => id))]);
    },
    sourceNames: async (reader, ids) => new Map((await sourcesById(reader, ids)).filter(({ workspace_id }) => workspace_id === null).map(({ id, title, url }) => [id, { title, url }])),
  };
}
