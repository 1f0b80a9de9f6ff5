import { isBoom } from '@hapi/boom';
import { Failure, type Database, type Tx } from 'civic';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import { knownOrigins } from '../ledger/origins.ts';
import type { DraftFault, Ledger } from '../ledger/service.ts';
import type { ActorDraft, Applied, Editor } from '../types.ts';
import type { Places } from '../places/service.ts';
import type { Format, JudgementLine, PlaceLine, ReadContext, Row } from './format.ts';
import type { TextFile } from './file.ts';
import { judgementExists, ownersOf, updateImport, type ImportRow, type Owner } from './store.ts';

/** What became of the rows. */
export interface Counts {
  read: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  /** Of the created ones, those that turned out to be an actor that was there. */
  joined: number;
}

export interface Finding {
  row: number;
  detail: string;
}

/** The first faults and notes; all faults are in the file of rejected rows. */
export interface Report {
  faults: Finding[];
  notes: Finding[];
}

export interface ImportRun {
  row: ImportRow;
  file: TextFile;
  format: Format;
  context: ReadContext;
  ledger: Pick<Ledger, 'check' | 'apply' | 'judge'>;
  places: Pick<Places, 'add' | 'byKeys'>;
  db: Database;
  editor: Editor;
  /** Commits a batch with its progress; a job's own `write`, where a job runs it. */
  write<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  signal: AbortSignal;
  /** Looks at every row and takes everything back. */
  isDry: boolean;
  /** Places that were taken back, too, but would be there. */
  dryPlaces: Set<string>;
  onProgress(done: number, total: number): Promise<void> | void;
}

type Rejected = { number: number; reason: string; raw: unknown };

const MOST_FINDINGS = 50;
/** On SQLite everybody else who writes waits as long; on Postgres a transaction costs more than its rows. */
const BATCH_MS = { sqlite: 40, postgres: 400 };
/** On a busy machine fewer would spend more time on transactions than on rows. */
const FEWEST_ROWS = 25;
const MOST_ROWS = 500;

/** Thrown to take a dry run's batch back. */
class Undo extends Error {
  applied: Applied[];
  constructor(applied: Applied[]) {
    super('dry run');
    this.applied = applied;
  }
}

/** Reads the file from where the import stands to its end. Answers the row as it is then. */
export async function runImport(run: ImportRun): Promise<ImportRow> {
  const { file, format, context, signal, onProgress } = run;
  const state = { ...run.row };
  const rejects = run.isDry ? null : await openRejects(state);
  let size = FEWEST_ROWS;
  let position = 0;
  let batch: Row[] = [];

  async function flush(): Promise<void> {
    const { applied, joined, rejected, ms } = await enterBatch(run, batch, state, rejects);
    for (const { action } of applied) state[action]++;
    state.joined += joined;
    state.rejected += rejected.length;
    batch = [];
    size = Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, size * 2, Math.ceil((size * BATCH_MS[run.db.dialect]) / Math.max(1, ms))));
    // The last piece of the file is read long before its rows are in.
    await onProgress(Math.min(file.bytesRead(), file.bytes - 1), file.bytes);
    signal.throwIfAborted();
  }

  try {
    for await (const row of format.reads!(file, context)) {
      if (++position <= state.position) continue;
      // Actors are checked against places that are there.
      if (batch.length > 0 && 'place' in batch[0]! !== 'place' in row) await flush();
      batch.push(row);
      if (batch.length >= size) await flush();
    }
    if (batch.length > 0) await flush();
    await onProgress(file.bytes, file.bytes);
  } catch (error) {
    // What was read before the file broke off is whole.
    if (error instanceof Failure && batch.length > 0) await flush();
    throw error;
  } finally {
    await rejects?.close();
    if (rejects && state.rejects_bytes === 0) await rm(state.rejects_path, { force: true });
  }
  return state;
}

/** Rows after the last commit may be in the file already: they are cut off, and come again. */
async function openRejects({ rejects_path: path, rejects_bytes: bytes }: ImportRow): Promise<FileHandle> {
  const file = await open(path, bytes === 0 ? 'w' : 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return open(path, 'w');
    throw error;
  }).catch((error: NodeJS.ErrnoException) => { throw new Failure(`Rejected rows cannot be written to ${path} (${error.code}): name another place with --rejects`); });
  await file.truncate(bytes);
  return file;
}

async function enterBatch(run: ImportRun, batch: Row[], state: ImportRow, rejects: FileHandle | null): Promise<{ applied: Applied[]; joined: number; rejected: Rejected[]; ms: number }> {
  const { ledger, db, editor } = run;
  const { drafts, judgements, places, rejected } = await sorted(run, batch);
  note(state, batch, rejected);
  await setAside(rejected, state, rejects);
  state.position += batch.length;
  state.bytes_done = run.file.bytesRead();
  let ms = 0;
  let refused: Rejected[] = [];
  let joined = 0;
  const commit = async (tx: Tx): Promise<Applied[]> => {
    const began = performance.now();
    refused = [];
    const applied = await addPlaces(tx, run, places);
    applied.push(...drafts.length > 0 ? await ledger.apply(tx, drafts, editor, { joins: Boolean(run.row.joins) }) : []);
    joined = applied.filter(({ joined_into }) => joined_into !== undefined).length;
    for (const { judgement, number } of judgements) {
      // In a dry run the actors of earlier batches are gone again: whether they could be judged shows only in earnest.
      const outcome = run.isDry ? { id: judgement.id, action: 'created' as const } : await judged(tx, ledger, judgement, editor);
      if (typeof outcome === 'string') refused.push({ number, reason: outcome, raw: judgement });
      else applied.push(outcome);
    }
    if (run.isDry) throw new Undo(applied);
    await updateImport(tx, state.id, progressOf(state, applied, rejected.length + refused.length, joined));
    ms = performance.now() - began;
    return applied;
  };
  const applied = run.isDry ? await takenBack(() => db.write(commit)) : await run.write(commit);
  note(state, [], refused);
  await setAside(refused, state, rejects);
  return { applied, joined, rejected: [...rejected, ...refused], ms: run.isDry ? BATCH_MS[db.dialect] : ms };
}

/** A place that is there, from wherever, stays as it is. */
async function addPlaces(tx: Tx, run: ImportRun, lines: PlaceLine[]): Promise<Applied[]> {
  if (lines.length === 0) return [];
  const known = await run.places.byKeys(tx, lines.map(({ place_key }) => place_key));
  const fresh = lines.filter(({ place_key }) => !known.has(place_key));
  for (const { origin, ...place } of fresh) await run.places.add(tx, [place], origin);
  if (run.isDry) for (const { place_key } of fresh) run.dryPlaces.add(place_key);
  return lines.map(({ place_key }) => ({ id: place_key, action: known.has(place_key) ? 'unchanged' : 'created' }));
}

async function takenBack(write: () => Promise<unknown>): Promise<Applied[]> {
  try {
    await write();
  } catch (error) {
    if (error instanceof Undo) return error.applied;
    throw error;
  }
  throw new Error('A dry run was committed');
}

async function setAside(rejected: Rejected[], state: ImportRow, file: FileHandle | null): Promise<void> {
  if (!file || rejected.length === 0) return;
  const lines = rejected.map(({ number, reason, raw }) => `${JSON.stringify({ row: number, reason, content: raw })}\n`).join('');
  const { bytesWritten } = await file.write(lines, state.rejects_bytes);
  state.rejects_bytes += bytesWritten;
}

function progressOf(state: ImportRow, applied: Applied[], rejected: number, joined: number): Partial<ImportRow> {
  const count = (action: Applied['action']) => state[action] + applied.filter((each) => each.action === action).length;
  return {
    position: state.position, bytes_done: state.bytes_done, rejects_bytes: state.rejects_bytes, noted: state.noted, report: state.report,
    created: count('created'), updated: count('updated'), unchanged: count('unchanged'), rejected: state.rejected + rejected, joined: state.joined + joined,
  };
}

/** Tells what can be entered from what cannot, with the reason. */
async function sorted(run: ImportRun, batch: Row[]): Promise<{ drafts: ActorDraft[]; judgements: { number: number; judgement: JudgementLine }[]; places: PlaceLine[]; rejected: Rejected[] }> {
  const { ledger, db, row } = run;
  const rejected: Rejected[] = [];
  const judgements: { number: number; judgement: JudgementLine }[] = [];
  const places: PlaceLine[] = [];
  const candidates: { row: Row; draft: ActorDraft }[] = [];
  for (const each of batch) {
    if ('fault' in each) rejected.push({ number: each.number, reason: each.fault, raw: each.raw });
    else if ('judgement' in each && !row.may_change_public) rejected.push({ number: each.number, reason: 'only reviewers may say which actors are the same', raw: each.raw });
    else if ('place' in each && !row.may_change_public) rejected.push({ number: each.number, reason: 'only reviewers may add places', raw: each.raw });
    else if ('place' in each) places.push(each.place);
    else if ('judgement' in each) judgements.push({ number: each.number, judgement: each.judgement });
    else candidates.push({ row: each, draft: { ...each.draft, visibility: row.visibility } });
  }
  const checked = await ledger.check(db.read, candidates.map(({ draft }) => draft), run.dryPlaces);
  const owner = row.visibility === 'public' ? null : row.workspace_id;
  const originsOf = ({ origin }: ActorDraft) => (origin ? knownOrigins(origin, owner) : []);
  const owners = await ownersOf(db.read, candidates.flatMap(({ draft }) => draft.id ?? []), candidates.flatMap(({ draft }) => originsOf(draft)));
  const drafts: ActorDraft[] = [];
  candidates.forEach(({ row: { number, raw } }, index) => {
    const one = checked[index]!;
    if ('faults' in one) return rejected.push({ number, raw, reason: reasonOf(one.faults) });
    // Records of other workspaces are none that the row could be about.
    const known = [one.draft.id ?? '', ...originsOf(one.draft)].map((name) => owners.get(name)).find((record) => record && !isElsewhere(record, row));
    if (known?.visibility === 'public' && !row.may_change_public) return rejected.push({ number, raw, reason: 'it is in the directory already, where only reviewers may add to it' });
    drafts.push(one.draft);
  });
  return { drafts, judgements, places, rejected };
}

/** Whether it is private to a workspace that the import is not for. */
function isElsewhere({ visibility, workspace_id }: Owner, row: ImportRow): boolean {
  return visibility === 'workspace' && workspace_id !== row.workspace_id;
}

/** A fault that many claims have is said once, of the first of them. */
function reasonOf(faults: DraftFault[]): string {
  const first = new Map([...faults].reverse().map((fault) => [fault.detail, fault]));
  return [...first.values()].reverse().map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; ');
}

async function judged(tx: Tx, ledger: ImportRun['ledger'], judgement: JudgementLine, editor: Editor): Promise<Applied | string> {
  if (await judgementExists(tx, judgement.id)) return { id: judgement.id, action: 'unchanged' };
  try {
    const { id, at, by_kind, ...rest } = judgement;
    await ledger.judge(tx, { ...rest, made: { id, at, by_kind } }, editor);
  } catch (error) {
    // Refused before anything was written: one of the two is not here, or somebody judged otherwise.
    if (isBoom(error) && !error.isServer) return error.message;
    throw error;
  }
  return { id: judgement.id, action: 'created' };
}

function note(state: ImportRow, batch: Row[], rejected: Rejected[]): void {
  const report = JSON.parse(state.report) as Report;
  for (const { number, reason } of rejected) if (report.faults.length < MOST_FINDINGS) report.faults.push({ row: number, detail: reason });
  for (const row of batch) {
    if (!('notes' in row) || row.notes.length === 0) continue;
    state.noted++;
    for (const detail of row.notes) if (report.notes.length < MOST_FINDINGS) report.notes.push({ row: row.number, detail });
  }
  state.report = JSON.stringify(report);
}

export function countsOf({ created, updated, unchanged, rejected, joined }: ImportRow): Counts {
  return { read: created + updated + unchanged + rejected, created, updated, unchanged, rejected, joined };
}
