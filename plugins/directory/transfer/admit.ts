import { isBoom } from '@hapi/boom';
import { newId, type Caller, type Database, type Tx } from 'civic';
import { checkMayChange, maySee } from '../access.ts';
import { lockedRecords } from '../ledger/edit.ts';
import { judgementById, standingBetween } from '../ledger/judgements-store.ts';
import { knownOrigins } from '../ledger/origins.ts';
import type { RecordRow } from '../ledger/rows.ts';
import type { DraftFault, Ledger } from '../ledger/service.ts';
import { recordsById } from '../ledger/store.ts';
import type { ActorDraft, Applied, Editor } from '../types.ts';
import type { JudgementLine, PlaceLine, Row } from './format.ts';
import { ownersOf, type ImportRow, type Owner } from './store.ts';

/** A row with the file of a folder it was read from. */
export type ReadRow = Row & { file: string | null };

export interface Rejected {
  row: ReadRow;
  reason: string;
  /** The person asked not to be listed: the content of the row is stored nowhere. */
  isUnlisted?: boolean;
}

/** The rows of a batch by what becomes of them. */
export interface Sorted {
  drafts: { row: ReadRow; draft: ActorDraft }[];
  judgements: { row: ReadRow; judgement: JudgementLine }[];
  places: { row: ReadRow; place: PlaceLine }[];
  rejected: Rejected[];
  /** Claims that were left out. */
  leftOut: Rejected[];
}

const UNLISTED = 'the person asked not to be listed';

type Importer = Pick<Caller, 'role' | 'workspace_id'>;

/** Who imports, in the terms of `access.ts`. The command line acts as a reviewer of no workspace: it reaches public actors only. */
function importerOf({ may_change_public, workspace_id }: ImportRow): Importer {
  return { role: may_change_public ? 'reviewer' : 'user', workspace_id };
}

/** Separates the rows that may be entered from those that may not, with the reason. */
export async function sortRows(db: Database, ledger: Pick<Ledger, 'check' | 'areUnlisted'>, row: ImportRow, batch: ReadRow[]): Promise<Sorted> {
  const sorted: Sorted = { drafts: [], judgements: [], places: [], rejected: [], leftOut: [] };
  const candidates: { row: ReadRow; draft: ActorDraft }[] = [];
  for (const each of batch) {
    if ('fault' in each) sorted.rejected.push({ row: each, reason: each.fault });
    else if ('judgement' in each) sorted.judgements.push({ row: each, judgement: each.judgement });
    else if ('place' in each && !row.may_change_public) sorted.rejected.push({ row: each, reason: 'only reviewers may add places' });
    else if ('place' in each) sorted.places.push({ row: each, place: each.place });
    else candidates.push({ row: each, draft: { ...each.draft, visibility: row.visibility } });
  }
  const checked = await ledger.check(db.read, candidates.map(({ draft }) => draft));
  const valid: { row: ReadRow; draft: ActorDraft }[] = [];
  candidates.forEach(({ row: each }, index) => {
    const one = checked[index]!;
    if ('faults' in one) sorted.rejected.push({ row: each, reason: reasonOf(one.faults) });
    else {
      valid.push({ row: each, draft: one.draft });
      for (const detail of new Set(one.hidden.map((fault) => fault.detail))) sorted.leftOut.push({ row: each, reason: `left out: ${detail}` });
    }
  });
  const unlisted = await ledger.areUnlisted(db.read, valid.map(({ draft }) => draft));
  valid.forEach(({ row: each }, index) => { if (unlisted[index]) sorted.rejected.push({ row: each, reason: UNLISTED, isUnlisted: true }); });
  const allowed = valid.filter((_, index) => !unlisted[index]);
  const owners = await ownersOf(db.read, allowed.flatMap(({ draft }) => draft.id ?? []), allowed.flatMap(({ draft }) => originsOf(draft, row)));
  for (const { row: each, draft } of allowed) {
    // Records of other workspaces are none that the row could be about: the ledger enters it under an id of its own.
    const known = [draft.id ?? '', ...originsOf(draft, row)].map((name) => owners.get(name)).find((record) => record && !isElsewhere(record, row));
    if (known?.visibility === 'public' && !row.may_change_public) sorted.rejected.push({ row: each, reason: 'it is in the directory already, where only reviewers may add to it' });
    else sorted.drafts.push({ row: each, draft });
  }
  return sorted;
}

function originsOf({ origin }: ActorDraft, { visibility, workspace_id }: ImportRow): string[] {
  return origin ? knownOrigins(origin, visibility === 'public' ? null : workspace_id) : [];
}

function isElsewhere({ visibility, workspace_id }: Owner, row: ImportRow): boolean {
  return visibility === 'workspace' && workspace_id !== row.workspace_id;
}

const MOST_FAULTS = 20;
const LONGEST_DETAIL = 500;

/** Repeats a fault that many claims share once, for the first of them. */
function reasonOf(faults: DraftFault[]): string {
  const first = [...new Map([...faults].reverse().map((fault) => [fault.detail, fault])).values()].reverse();
  const shown = first.slice(0, MOST_FAULTS).map(({ pointer, detail }) => `${pointer}: ${detail.slice(0, LONGEST_DETAIL)}`);
  return [...shown, ...(first.length > MOST_FAULTS ? [`and ${first.length - MOST_FAULTS} more`] : [])].join('; ');
}

export interface JudgeContext {
  ledger: Pick<Ledger, 'judge'>;
  row: ImportRow;
  editor: Editor;
  url(path: string): string;
}

/** Enters a judgement under the rules of `POST /api/judgements`; the kind of editor in the file counts only for the operator's imports. Returns the reason where it is refused. */
export async function enterJudgement(tx: Tx, { ledger, row, editor, url }: JudgeContext, judgement: JudgementLine): Promise<Applied | string> {
  const importer = importerOf(row);
  const sees = (record: RecordRow) => maySee(record, importer);
  const { id, at, by_kind, ...rest } = judgement;
  const known = await recordsById(tx, [judgement.left_id, judgement.right_id].map((each) => each.toLowerCase()));
  const [left, right] = known;
  const stored = await judgementById(tx, id);
  if (left && right && known.every((record) => record.deleted_at === null && sees(record))) {
    const isStored = stored && known.every(({ key }) => key === stored.left_key || key === stored.right_key);
    if (isStored || await holds(tx, left, right, judgement)) return { id, action: 'unchanged' };
  }
  try {
    const records = await lockedRecords(tx, [judgement.left_id, judgement.right_id], url, sees);
    for (const record of records) checkMayChange(record, importer);
    await ledger.judge(tx, { ...rest, made: { id: stored ? newId() : id, at, by_kind: row.account_id === null ? by_kind : editor.kind } }, editor);
  } catch (error) {
    // Refused before anything was written.
    if (isBoom(error) && !error.isServer) return error.message;
    throw error;
  }
  return { id, action: 'created' };
}

async function holds(tx: Tx, left: RecordRow, right: RecordRow, { verdict }: JudgementLine): Promise<boolean> {
  if (verdict === 'same') return left.actor_key === right.actor_key;
  return (await standingBetween(tx, left.key, right.key))?.verdict === verdict;
}
