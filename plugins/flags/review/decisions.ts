import { isId, newId, problem, singleLine, type Caller, type Language, type Tx } from 'civic';
import type { DoneEdit, Edit } from 'civic/directory';
import type { Flags } from '../flags.ts';
import { updateCounts } from '../counts-store.ts';
import { eventOf, flagsToDecide, isOpenKeyTaken, updateFlag, type FlagRow } from '../store.ts';
import type { Decision, Status } from '../types.ts';
import { insertStep, lastStep, markUndone, stepsOfBatch, type Action, type Before, type StepRow } from './steps-store.ts';

/** A reviewer, and from where they decide, for the audit record. */
export interface Reviewer {
  caller: Caller;
  by: { account_id: string; address: string | null; language?: Language };
}

/** Null for a program. */
type Doer = Omit<Reviewer['by'], 'account_id'> & { account_id: string | null };
const PROGRAM: Doer = { account_id: null, address: null };

export interface NewDecision {
  /** `cleared` removes the suspicion of spam and leaves the flag open. */
  action: Decision | 'cleared';
  note?: string;
  /** Corrects the target of the first flag. Without an edit only an accepted flag can be resolved. */
  edit?: Edit | null;
}

export interface Decisions {
  /** Decides on flags in one transaction, with the edit of the first. Throws `unknown_flag`, `flag_transition` and the problems of the edit. Returns the batch. */
  decide(flagIds: string[], decision: NewDecision, reviewer: Reviewer): Promise<{ batch: string; flags: FlagRow[] }>;
  /** Ends a flag because what it reports is no longer so: an open one is dismissed, an accepted one resolved. One that is decided stays. */
  settle(tx: Tx, flagId: string, note: string): Promise<void>;
  /** Undoes the decisions of a batch with their edits. Throws `undo_conflict` when one of the flags was changed since. Returns the flags. */
  undo(batch: string, reviewer: Reviewer): Promise<FlagRow[]>;
}

/** How many flags can be decided on at once. */
export const MOST_DECIDED = 50;

const NEXT: Record<Status, readonly Status[]> = { open: ['accepted', 'dismissed'], accepted: ['resolved'], dismissed: [], resolved: [] };
/** What becomes of a flag when what it reports is no longer so. */
const SETTLED: Partial<Record<Status, Decision>> = { open: 'dismissed', accepted: 'resolved' };

export function createDecisions({ civic, directory, signals, refreshTargets, resumeHolds, audit }: Pick<Flags, 'civic' | 'directory' | 'signals' | 'refreshTargets' | 'resumeHolds' | 'audit'>): Decisions {
  async function storeDecision(tx: Tx, row: FlagRow, { action, note, isCorrected }: NewDecision & { isCorrected: boolean }, { batch, reviewer, edit }: { batch: string; reviewer: { by: Doer }; edit: DoneEdit | null }): Promise<FlagRow> {
    const status = statusAfter(row, action, isCorrected);
    const at = civic.clock.iso();
    const decided = await updateFlag(tx, row.key, action === 'cleared' ? { suspicion: null, updated_at: at } : {
      status, note: note ?? row.note, suspicion: status === 'dismissed' ? row.suspicion : null, open_key: null, decided_by: reviewer.by.account_id, decided_at: at, updated_at: at,
    });
    await insertStep(tx, {
      id: newId(civic.clock.now()), batch, flag_key: row.key, action, from_status: row.status, to_status: status, note: note ?? null, edit: edit && JSON.stringify(edit),
      before: JSON.stringify(beforeOf(row)), account_id: reviewer.by.account_id, at, undone_at: null,
    });
    await audit(tx, `flags_${action}`, reviewer, row.id, { from: row.status, to: status, ...(edit && { edit: edit.kind, edited: edit.id }) });
    await civic.emit(tx, action === 'cleared' ? 'flags.cleared' : 'flags.decided', eventOf(decided));
    if (status === 'resolved') await signals.publish(tx, decided, edit?.kind === 'merge' ? edit.into : decided.target_id);
    return decided;
  }

  async function undoStep(tx: Tx, row: FlagRow, step: StepRow, reviewer: Reviewer): Promise<FlagRow> {
    const at = civic.clock.iso();
    const before = JSON.parse(step.before) as Before;
    if (step.edit !== null) await directory.undoEdit(tx, JSON.parse(step.edit) as DoneEdit, reviewer.caller);
    if (row.signal_id !== null && row.signal_id !== before.signal_id) await signals.withdraw(tx, row.signal_id);
    // The account may have reported the same again in the meantime: one such flag has the key.
    const open_key = before.open_key === null || await isOpenKeyTaken(tx, before.open_key) ? null : before.open_key;
    const restored = await updateFlag(tx, row.key, { ...before, open_key, updated_at: at });
    await insertStep(tx, {
      id: newId(civic.clock.now()), batch: newId(civic.clock.now()), flag_key: row.key, action: 'undone', from_status: row.status, to_status: before.status, note: null, edit: null,
      before: JSON.stringify(beforeOf(row)), account_id: reviewer.caller.account_id, at, undone_at: at,
    });
    await audit(tx, 'flags_undone', reviewer, row.id, { from: row.status, to: before.status });
    await civic.emit(tx, 'flags.undone', eventOf(restored));
    return restored;
  }

  return {
    decide: (flagIds, decision, reviewer) => civic.db.write(async (tx) => {
      const rows = await flagsToDecide(tx, flagIds);
      if (rows.length < flagIds.length || rows.length === 0) throw problem('unknown_flag', { detail: `No flag has the id ${singleLine(flagIds.find((id) => !rows.some((row) => row.id === id.toLowerCase())) ?? '', 100)}.` });
      // All transitions are checked before the edit: a decision that is not allowed changes nothing.
      for (const row of rows) statusAfter(row, decision.action, Boolean(decision.edit));
      const edit = decision.edit ? await directory.edit(tx, decision.edit, reviewer.caller) : null;
      const batch = newId(civic.clock.now());
      const flags: FlagRow[] = [];
      for (const [index, row] of rows.entries()) flags.push(await storeDecision(tx, row, { ...decision, isCorrected: edit !== null }, { batch, reviewer, edit: index === 0 ? edit : null }));
      await refreshTargets(tx, rows, flags);
      await updateCounts(tx, rows, flags);
      return { batch, flags };
    }),
    async settle(tx, flagId, note) {
      const rows = await flagsToDecide(tx, [flagId]);
      const [row] = rows;
      const action = row && SETTLED[row.status];
      if (!action) return;
      const settled = await storeDecision(tx, row, { action, note, isCorrected: false }, { batch: newId(civic.clock.now()), reviewer: { by: PROGRAM }, edit: null });
      await refreshTargets(tx, rows, [settled]);
      await updateCounts(tx, rows, [settled]);
    },
    undo: (batch, reviewer) => civic.db.write(async (tx) => {
      const steps = isId(batch) ? await stepsOfBatch(tx, batch.toLowerCase()) : [];
      if (steps.length === 0) throw problem('undo_conflict', { detail: 'The decision was undone already, or does not exist.' });
      const rows = await flagsToDecide(tx, steps.map(({ flag_key }) => Number(flag_key)));
      const flags: FlagRow[] = [];
      for (const step of steps) {
        const row = rows.find(({ key }) => Number(key) === Number(step.flag_key))!;
        if ((await lastStep(tx, row.key))?.key !== step.key) throw problem('undo_conflict', { detail: `Another decision on the flag ${row.id} was stored since: undo that one first.` });
        flags.push(await undoStep(tx, row, step, reviewer));
      }
      await markUndone(tx, steps.map(({ key }) => key), civic.clock.iso());
      await resumeHolds(tx, flags, reviewer);
      await refreshTargets(tx, rows, flags);
      await updateCounts(tx, rows, flags);
      return flags;
    }),
  };
}

/** Returns the status after an action. Throws `flag_transition`. A flag whose target is corrected in the same step is resolved at once. */
function statusAfter({ status, suspicion }: FlagRow, action: Action, isCorrected: boolean): Status {
  if (action === 'cleared') {
    if (status !== 'open' || suspicion === null) throw problem('flag_transition', { detail: 'Only an open flag that is suspected can be cleared.' });
    return status;
  }
  if (isCorrected && action === 'resolved' && status === 'open') return 'resolved';
  const next = action as Decision;
  if (!NEXT[status].includes(next)) throw problem('flag_transition', { detail: transitionDetail(status, next) });
  return next;
}

function transitionDetail(from: Status, to: Status): string {
  const next = NEXT[from];
  return `The flag is ${from} and cannot become ${to}: ${next.length > 0 ? `it can become ${next.join(' or ')}` : 'its decision is final'}.`;
}

export function beforeOf({ status, suspicion, note, open_key, decided_by, decided_at, signal_id }: FlagRow): Before {
  return { status, suspicion, note, open_key, decided_by, decided_at, signal_id };
}
