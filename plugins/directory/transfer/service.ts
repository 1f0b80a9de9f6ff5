import { Failure, newId, type Civic, type Database, type Tx } from 'civic';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { DirectoryConfig } from '../config.ts';
import type { Ledger } from '../ledger/service.ts';
import type { Places } from '../places/service.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { Editor, Visibility } from '../types.ts';
import { createAuthority, type Authority } from './authority.ts';
import { readContext } from './context.ts';
import type { Format } from './format.ts';
import { formatByName } from './formats.ts';
import { openTextFile, type TextFile } from './file.ts';
import { runImport, type ImportRun } from './import.ts';
import { failImport, importById, insertImport, unfinishedImport, updateImport, type ImportRow, type NewImport } from './store.ts';
import { createUploads, storageCode, type Uploads } from './uploads.ts';

export interface TransferOptions {
  civic: Pick<Civic<DirectoryConfig>, 'clock' | 'instance' | 'url' | 'jobs' | 'config' | 'log' | 'serviceIfOn'> & { readonly db: Civic['db'] };
  ledger: Ledger;
  /** A ledger on a copy of the database, which tells nobody what it changes. */
  ledgerOn(db: Database): Ledger;
  places: Places;
  taxonomy(): Taxonomy;
}

/** How somebody wants a file to be read. */
export interface ImportSettings {
  format: Format;
  source: string | null;
  timezone: string | null;
  visibility: Visibility;
  account_id: string | null;
  workspace_id: string | null;
  may_change_public: boolean;
  /** Joins new actors with those that are surely the same; unless said, for files of others only. */
  joins: boolean | null;
}

export interface Transfer {
  /** Reads a file to its end, or on from where an earlier import of the same file was cut short; in a dry run into a copy of the database. */
  importFile(path: string, settings: ImportSettings, options: Pick<ImportRun, 'isDry' | 'signal' | 'onProgress' | 'onRow'> & { rejectsPath: string }): Promise<{ row: ImportRow; file: TextFile; resumedAt: number }>;
  uploads: Uploads;
  authority: Authority;
  /** Hands an uploaded file to a job. */
  enqueue(tx: Tx, id: string, bytes: number, settings: ImportSettings): Promise<void>;
  /** Runs the import of an upload. The last attempt of its job ends it, whatever happens. */
  runQueued(id: string, run: Pick<ImportRun, 'write' | 'signal' | 'onProgress'> & { isLast: boolean }): Promise<void>;
  importById(id: string): Promise<ImportRow | undefined>;
}

/** Where an import goes: the database, or a copy of it. */
type Target = Pick<ImportRun, 'db' | 'ledger'>;

export function createTransfer({ civic, ledger, ledgerOn, places, taxonomy }: TransferOptions): Transfer {
  // Two runs of the same import would only repeat each other's work.
  const running = new Set<string>();

  const uploads = createUploads({ civic });
  const authority = createAuthority(civic);

  async function perform(target: Target, row: ImportRow, file: TextFile, format: Format, run: Pick<ImportRun, 'write' | 'isDry' | 'signal' | 'onProgress' | 'onRow'>): Promise<ImportRow> {
    // An attempt that lost its job stops soon; the next one waits for that.
    if (running.has(row.fingerprint)) throw new Error('An earlier attempt of this import has not stopped yet');
    running.add(row.fingerprint);
    const source = row.source_url ? { url: row.source_url } : format.source ?? null;
    const context = readContext({ db: target.db, places, taxonomy: taxonomy(), source, timezone: row.timezone, now: civic.clock.iso() });
    try {
      await run.write((tx) => updateImport(tx, row.id, { state: 'running', started_at: row.started_at ?? civic.clock.iso(), finished_at: null, bytes_total: file.bytes, error: null, error_code: null }));
      const done = await runImport({ ...run, ...target, row, file, format, context, editor: editorOf(row), places, url: civic.url, checkAuthority: (tx) => authority.check(tx, row), onRowError: (error, number) => civic.log.error({ err: error, import: row.id, row: number }, 'A row of an import was rejected for an unexpected error') });
      await run.write((tx) => updateImport(tx, row.id, { state: 'completed', bytes_done: file.bytes, rejects_bytes: done.rejects_bytes, report: done.report, finished_at: civic.clock.iso() }));
    } finally {
      running.delete(row.fingerprint);
    }
    return (await importById(target.db.read, row.id))!;
  }

  /** Marks an import of the command line as failed. Returns the error to throw: one of the disk states what is stored. */
  async function stopped(id: string, error: unknown, path: string): Promise<unknown> {
    const failure = { error: (error as Error).message, error_code: storageCode(error) ?? 'import_failed', finished_at: civic.clock.iso() };
    await civic.db.write((tx) => failImport(tx, id, failure)).catch(() => undefined);
    if (!storageCode(error)) return error;
    const { position, created, updated, unchanged } = (await importById(civic.db.read, id))!;
    const stored = position > 0 ? `The first ${position} rows of ${path} are stored (${created} created, ${updated} updated, ${unchanged} unchanged)` : `No row of ${path} is stored`;
    return new Failure(`The disk is full or cannot be written. ${stored}.\nMake room on it, then run the same command again: it continues after row ${position}.`, { cause: error });
  }

  return {
    async importFile(path, settings, options) {
      const file = await openTextFile(path);
      const fresh = newImport(newId(), file.fingerprint, { path, rejects_path: options.rejectsPath, bytes_total: file.bytes, job_id: null }, settings, civic.clock.iso());
      if (running.has(fresh.fingerprint)) throw new Failure('This import is running already');

      async function into(target: Target): ReturnType<Transfer['importFile']> {
        const { db } = target;
        const earlier = await unfinishedImport(db.read, fresh.fingerprint);
        if (!earlier) await db.write((tx) => insertImport(tx, fresh));
        const row = earlier ?? (await importById(db.read, fresh.id))!;
        const done = await perform(target, { ...row, path, rejects_path: fresh.rejects_path }, file, settings.format, { ...options, write: (fn) => db.write(fn) })
          .catch(async (error: unknown) => { throw options.isDry ? error : await stopped(row.id, error, path); });
        return { row: done, file, resumedAt: row.position };
      }

      if (!options.isDry) return into({ db: civic.db, ledger });
      return civic.db.scratch('directory_', (db) => into({ db, ledger: ledgerOn(db) }));
    },
    uploads,
    authority,
    async enqueue(tx, id, bytes, settings) {
      await uploads.admit(tx, settings.account_id!, bytes);
      const job_id = await civic.jobs.enqueue(tx, 'directory.import', { id });
      await insertImport(tx, newImport(id, id, { path: uploads.path(id), rejects_path: uploads.rejectsPath(id), bytes_total: bytes, job_id }, settings, civic.clock.iso()));
    },
    async runQueued(id, { isLast, ...run }) {
      const row = await importById(civic.db.read, id);
      if (!row || row.state === 'completed' || row.state === 'failed') return;
      try {
        await perform({ db: civic.db, ledger }, row, await openTextFile(row.path), formatByName(row.format)!, { ...run, isDry: false });
      } catch (error) {
        const isOver = error instanceof Failure || (isLast && !run.signal.aborted);
        if (isOver) await uploads.fail((await importById(civic.db.read, id))!, error, run.write);
        if (!isOver) throw error;
        // The import reports the failure itself, and its file is deleted: the job would have nothing to repeat.
        if (!(error instanceof Failure)) civic.log.error({ err: error, import: id }, 'An import failed');
      }
      await rm(row.path, { force: true });
    },
    importById: (id) => importById(civic.db.read, id),
  };
}

function editorOf({ account_id, workspace_id }: ImportRow): Editor {
  return { kind: 'import', account_id, workspace_id };
}

function newImport(id: string, content: string, file: Pick<NewImport, 'path' | 'rejects_path' | 'bytes_total' | 'job_id'>, settings: ImportSettings, now: string): NewImport {
  const { format, source, timezone, visibility, account_id, workspace_id, may_change_public } = settings;
  const joins = settings.joins ?? !format.isOwn;
  const fingerprint = createHash('sha256').update(JSON.stringify([content, format.name, source, timezone, visibility, workspace_id, joins])).digest('hex');
  return {
    ...file, id, fingerprint, format: format.name, source_url: source, timezone, visibility, account_id, workspace_id, may_change_public, joins, created_at: now,
  };
}
