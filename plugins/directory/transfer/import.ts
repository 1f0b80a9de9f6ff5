import { Failure, type Database, type Tx } from 'civic';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import type { Ledger } from '../ledger/service.ts';
import type { ActorDraft, Applied, Editor } from '../types.ts';
import type { Places } from '../places/service.ts';
import { enterJudgement, sortRows, type ReadRow, type Rejected, type Sorted } from './admit.ts';
import { AuthorityLost } from './authority.ts';
import type { Format, PlaceLine, ReadContext, Row } from './format.ts';
import type { TextFile } from './file.ts';
import { updateImport, type ImportRow } from './store.ts';

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
  /** Of an import of a folder: the file in it. */
  file?: string;
  detail: string;
}

/** A new actor that turned out to be one that was there. */
export interface Joined extends Omit<Finding, 'detail'> {
  id: string;
  name: string;
  into: string;
}

/** The first faults, notes and joined actors; all faults are in the file of rejected rows. */
export interface Report {
  faults: Finding[];
  notes: Finding[];
  joined: Joined[];
  /** Of the rejected rows, those about people who asked not to be listed. */
  unlisted: number;
}

/** What became of one row; `id` is null for a rejected one. */
export interface Outcome extends Omit<Finding, 'detail'> {
  action: Applied['action'] | 'rejected';
  id: string | null;
  name: string | null;
  joined_into?: string;
  detail?: string;
}

export interface ImportRun {
  row: ImportRow;
  file: TextFile;
  format: Format;
  context: ReadContext;
  ledger: Pick<Ledger, 'check' | 'areUnlisted' | 'apply' | 'judge'>;
  places: Pick<Places, 'add' | 'byKeys'>;
  db: Database;
  editor: Editor;
  url(path: string): string;
  /** Commits a batch with its progress; a job's own `write`, where a job runs it. */
  write<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Called in the transaction of each batch. Throws AuthorityLost when the account may no longer import. */
  checkAuthority(tx: Tx): Promise<void>;
  /** Called with an unexpected error of a row that is rejected for it. */
  onRowError(error: unknown, row: number): void;
  signal: AbortSignal;
  /** Writes no file of rejected rows: the database is a copy. */
  isDry: boolean;
  onProgress(done: number, total: number): Promise<void> | void;
  /** Called for each row of a batch once it is committed. */
  onRow?(outcome: Outcome): void;
}

const MOST_FINDINGS = 50;
const MOST_JOINED = 200;
/** On SQLite everybody else who writes waits as long; on Postgres a transaction costs more than its rows. */
const BATCH_MS = { sqlite: 40, postgres: 400 };
/** On a busy machine fewer would spend more time on transactions than on rows. */
const FEWEST_ROWS = 25;
const MOST_ROWS = 500;

/** Reads the file from where the import stands to its end. Returns the row as it is then. */
export async function runImport(run: ImportRun): Promise<ImportRow> {
  const { file, signal, onProgress } = run;
  const state = { ...run.row };
  const rejects = run.isDry ? null : await openRejects(state);
  let size = FEWEST_ROWS;
  let position = 0;
  let batch: ReadRow[] = [];

  async function flush(): Promise<void> {
    const ms = await enterBatch(run, batch, state, rejects);
    batch = [];
    size = Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, size * 2, Math.ceil((size * BATCH_MS[run.db.dialect]) / Math.max(1, ms))));
    // The last piece of the file is read long before its rows are in.
    await onProgress(Math.min(file.bytesRead(), file.bytes - 1), file.bytes);
    signal.throwIfAborted();
  }

  try {
    for await (const row of judgementsLast(run)) {
      if (++position <= state.position) continue;
      // Actors are checked against places that are there.
      if (batch.length > 0 && 'place' in batch[0]! !== 'place' in row) await flush();
      batch.push({ ...row, file: file.reading() });
      if (batch.length >= size) await flush();
    }
    if (batch.length > 0) await flush();
    await onProgress(file.bytes, file.bytes);
  } catch (error) {
    // What was read before the file broke off is whole.
    if (error instanceof Failure && !(error instanceof AuthorityLost) && batch.length > 0) await flush();
    throw error;
  } finally {
    await rejects?.close();
    if (rejects && state.rejects_bytes === 0) await rm(state.rejects_path, { force: true });
  }
  return state;
}

/** Returns the rows with all judgements last: the actors that they name may be anywhere in the file. Reads the file again for them, because they could be too many to keep in memory. */
async function* judgementsLast({ format, file, context }: ImportRun): AsyncIterable<Row> {
  let hasJudgements = false;
  try {
    for await (const row of format.reads!(file, context)) {
      if ('judgement' in row) hasJudgements = true;
      else yield row;
    }
  } catch (error) {
    // The second reading fails at the same place, after the judgements before it.
    if (!hasJudgements || !(error instanceof Failure)) throw error;
  }
  if (!hasJudgements) return;
  for await (const row of format.reads!(file, context)) if ('judgement' in row) yield row;
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

/** Enters the rows and returns the milliseconds of the transactions. A batch with a row that cannot be stored is entered in halves, and that row is rejected. */
async function enterBatch(run: ImportRun, batch: ReadRow[], state: ImportRow, rejects: FileHandle | null): Promise<number> {
  const before = { ...state };
  try {
    return await enterRows(run, batch, state, rejects);
  } catch (error) {
    if (!isRowError(error)) throw error;
    Object.assign(state, before);
    await rejects?.truncate(state.rejects_bytes);
    if (batch.length === 1) {
      const { number, raw, file } = batch[0]!;
      run.onRowError(error, number);
      return enterRows(run, [{ number, raw, file, fault: 'the server cannot store this row' }], state, rejects);
    }
    const half = Math.ceil(batch.length / 2);
    return await enterBatch(run, batch.slice(0, half), state, rejects) + await enterBatch(run, batch.slice(half), state, rejects);
  }
}

/** Whether the rows caused the error: an unexpected value (22), a constraint (23), or code that met a value of another type. Other errors are the server's, and the job is retried. */
function isRowError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof TypeError || error instanceof RangeError || /^(?:2[23][0-9A-Z]{3}$|SQLITE_CONSTRAINT|SQLITE_MISMATCH|SQLITE_TOOBIG)/.test(String(code));
}

async function enterRows(run: ImportRun, batch: ReadRow[], state: ImportRow, rejects: FileHandle | null): Promise<number> {
  const { ledger, db, editor } = run;
  const sorted = await sortRows(db, ledger, run.row, batch);
  note(state, batch, sorted.rejected, sorted.leftOut);
  await setAside(sorted.rejected, state, rejects);
  state.position += batch.length;
  state.bytes_done = run.file.bytesRead();
  let ms = 0;
  let refused: Rejected[] = [];
  let entered: Entered[] = [];
  const joined = () => entered.filter(({ applied }) => applied.joined_into !== undefined);
  const applied = await run.write(async (tx): Promise<Applied[]> => {
    const began = performance.now();
    await run.checkAuthority(tx);
    refused = [];
    entered = await addPlaces(tx, run, sorted.places);
    const changed = sorted.drafts.length > 0 ? await ledger.apply(tx, sorted.drafts.map(({ draft }) => draft), editor, { joins: Boolean(run.row.joins) }) : [];
    entered.push(...sorted.drafts.map(({ row, draft }, at) => ({ row, name: nameOf(draft), applied: changed[at]! })));
    for (const { judgement, row } of sorted.judgements) {
      const outcome = await enterJudgement(tx, run, judgement);
      if (typeof outcome === 'string') refused.push({ row, reason: outcome });
      else entered.push({ row, name: null, applied: outcome });
    }
    const all = entered.map((one) => one.applied);
    await updateImport(tx, state.id, { ...progressOf(state, all, sorted.rejected.length + refused.length, joined().length), report: withJoined(state.report, joined()) });
    ms = performance.now() - began;
    return all;
  });
  state.report = withJoined(state.report, joined());
  note(state, [], refused, []);
  await setAside(refused, state, rejects);
  const rejected = [...sorted.rejected, ...refused];
  if (run.onRow) for (const outcome of outcomesOf(entered, rejected)) run.onRow(outcome);
  for (const { action } of applied) state[action]++;
  state.joined += joined().length;
  state.rejected += rejected.length;
  return ms;
}

/** A row with what entering it came to. */
interface Entered {
  row: ReadRow;
  name: string | null;
  applied: Applied;
}

function nameOf({ claims }: ActorDraft): string {
  return String(claims.find(({ property }) => property === 'name')!.value);
}

function whereOf({ number, file }: ReadRow): { row: number; file?: string } {
  return { row: number, ...(file !== null && { file }) };
}

function outcomesOf(entered: Entered[], rejected: Rejected[]): Outcome[] {
  const outcomes: Outcome[] = [
    ...entered.map(({ row, name, applied: { id, action, joined_into } }) => ({ ...whereOf(row), action, id, name, ...(joined_into !== undefined && { joined_into }) })),
    ...rejected.map(({ row, reason }) => ({ ...whereOf(row), action: 'rejected' as const, id: null, name: null, detail: reason })),
  ];
  return outcomes.sort((a, b) => ((a.file ?? '') < (b.file ?? '') ? -1 : (a.file ?? '') > (b.file ?? '') ? 1 : a.row - b.row));
}

/** A place that is there, from wherever, stays as it is. */
async function addPlaces(tx: Tx, run: ImportRun, lines: Sorted['places']): Promise<Entered[]> {
  if (lines.length === 0) return [];
  const known = await run.places.byKeys(tx, lines.map(({ place }) => place.place_key));
  const fresh = lines.filter(({ place }) => !known.has(place.place_key));
  for (const { place: { origin, ...place } } of fresh as { place: PlaceLine }[]) await run.places.add(tx, [place], origin);
  return lines.map(({ row, place: { place_key: id, name } }) => ({ row, name, applied: { id, action: known.has(id) ? 'unchanged' : 'created' } }));
}

async function setAside(rejected: Rejected[], state: ImportRow, file: FileHandle | null): Promise<void> {
  if (!file || rejected.length === 0) return;
  const lines = rejected.map(({ row, reason, isUnlisted }) => `${JSON.stringify({ ...whereOf(row), reason, content: isUnlisted ? null : row.raw })}\n`).join('');
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

function note(state: ImportRow, batch: ReadRow[], rejected: Rejected[], leftOut: Rejected[]): void {
  const report = reportOf(state.report);
  report.unlisted += rejected.filter(({ isUnlisted }) => isUnlisted).length;
  for (const { row, reason } of rejected) if (report.faults.length < MOST_FINDINGS) report.faults.push(findingOf(row, reason));
  for (const row of batch) {
    const notes = [...('notes' in row ? row.notes : []), ...leftOut.filter((one) => one.row === row).map(({ reason }) => reason)];
    if (notes.length === 0) continue;
    state.noted++;
    for (const detail of notes) if (report.notes.length < MOST_FINDINGS) report.notes.push(findingOf(row, detail));
  }
  state.report = JSON.stringify(report);
}

/** Replaces halves of surrogate pairs: a detail quotes the start of a value, and Postgres rejects JSON with them. */
function findingOf(row: ReadRow, detail: string): Finding {
  return { ...whereOf(row), detail: detail.replaceAll(/\p{Surrogate}/gu, '\u{FFFD}') };
}

function withJoined(text: string, joined: Entered[]): string {
  const report = reportOf(text);
  for (const { row, name, applied } of joined) if (report.joined.length < MOST_JOINED) report.joined.push({ ...whereOf(row), id: applied.id, name: name!, into: applied.joined_into! });
  return JSON.stringify(report);
}

/** Reads a stored report; one of an earlier version lacks the joined actors and the unlisted people. */
export function reportOf(text: string): Report {
  return { joined: [], unlisted: 0, ...JSON.parse(text) as Partial<Report> & Pick<Report, 'faults' | 'notes'> };
}

export function countsOf({ created, updated, unchanged, rejected, joined }: ImportRow): Counts {
  return { read: created + updated + unchanged + rejected, created, updated, unchanged, rejected, joined };
}
