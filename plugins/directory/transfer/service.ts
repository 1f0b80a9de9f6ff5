import { Failure, newId, type Civic, type Tx } from 'civic';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ledger } from '../ledger/service.ts';
import type { Places } from '../places/service.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { Editor, Visibility } from '../types.ts';
import { readContext } from './context.ts';
import type { Format } from './format.ts';
import { formatByName } from './formats.ts';
import { openTextFile, type TextFile } from './file.ts';
import { runImport, type ImportRun } from './import.ts';
import { deleteImports, importById, importsFinishedBefore, insertImport, unfinishedImport, updateImport, type ImportRow, type NewImport } from './store.ts';

export interface TransferOptions {
  civic: Pick<Civic, 'clock' | 'instance' | 'url' | 'jobs'> & { readonly db: Civic['db'] };
  ledger: Ledger;
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
  /** Reads a file to its end, or on from where an earlier import of the same file was cut short. */
  importFile(path: string, settings: ImportSettings, options: Pick<ImportRun, 'isDry' | 'signal' | 'onProgress'> & { rejectsPath: string }): Promise<{ row: ImportRow; file: TextFile; resumedAt: number }>;
  /** Where the body of a request goes until a job has read it. */
  uploadPath(id: string): string;
  /** Hands an uploaded file to a job. */
  enqueue(tx: Tx, id: string, bytes: number, settings: ImportSettings): Promise<void>;
  /** The job's work. */
  runQueued(id: string, run: Pick<ImportRun, 'write' | 'signal' | 'onProgress'>): Promise<void>;
  importById(id: string): Promise<ImportRow | undefined>;
  /** Forgets uploads that ended long ago, with their files. */
  purge(): Promise<void>;
}

const KEPT_DAYS = 30;

export function createTransfer({ civic, ledger, places, taxonomy }: TransferOptions): Transfer {
  // Two runs of the same import would only repeat each other's work.
  const running = new Set<string>();

  const folder = () => join(civic.instance.data_dir, 'imports');

  async function perform(row: ImportRow, file: TextFile, format: Format, run: Pick<ImportRun, 'write' | 'isDry' | 'signal' | 'onProgress'>): Promise<ImportRow> {
    if (running.has(row.fingerprint)) throw new Failure('This import is running already');
    running.add(row.fingerprint);
    const source = row.source_url ? { url: row.source_url } : format.source ?? null;
    const context = readContext({ db: civic.db, places, taxonomy: taxonomy(), source, timezone: row.timezone, now: civic.clock.iso() });
    try {
      return await runImport({ ...run, row, file, format, context, ledger, db: civic.db, editor: editorOf(row), places, dryPlaces: new Set() });
    } finally {
      running.delete(row.fingerprint);
    }
  }

  async function performAndNote(row: ImportRow, file: TextFile, format: Format, run: Pick<ImportRun, 'write' | 'signal' | 'onProgress'>): Promise<ImportRow> {
    await run.write((tx) => updateImport(tx, row.id, { state: 'running', started_at: row.started_at ?? civic.clock.iso(), bytes_total: file.bytes, error: null }));
    try {
      const done = await perform(row, file, format, { ...run, isDry: false });
      await run.write((tx) => updateImport(tx, row.id, { state: 'completed', bytes_done: file.bytes, rejects_bytes: done.rejects_bytes, finished_at: civic.clock.iso() }));
    } catch (error) {
      if (error instanceof Failure) await fail(row.id, error.message, run.write);
      throw error;
    }
    return (await importById(civic.db.read, row.id))!;
  }

  async function fail(id: string, error: string, write: ImportRun['write']): Promise<void> {
    await write((tx) => updateImport(tx, id, { state: 'failed', error, finished_at: civic.clock.iso() }));
  }

  return {
    async importFile(path, settings, options) {
      const file = await openTextFile(path);
      const fresh = newImport(newId(), file.fingerprint, path, options.rejectsPath, file.bytes, settings, civic.clock.iso());
      if (options.isDry) return { row: await perform(emptyRow(fresh), file, settings.format, { ...options, write: civic.db.write }), file, resumedAt: 0 };
      const earlier = await unfinishedImport(civic.db.read, fresh.fingerprint);
      if (!earlier) await civic.db.write((tx) => insertImport(tx, fresh));
      const row = earlier ?? (await importById(civic.db.read, fresh.id))!;
      const done = await performAndNote({ ...row, path, rejects_path: fresh.rejects_path }, file, settings.format, { ...options, write: (fn) => civic.db.write(fn) });
      return { row: done, file, resumedAt: row.position };
    },
    uploadPath: (id) => join(folder(), `${id}.upload`),
    async enqueue(tx, id, bytes, settings) {
      await insertImport(tx, newImport(id, id, this.uploadPath(id), join(folder(), `${id}.rejects.ndjson`), bytes, settings, civic.clock.iso()));
      await civic.jobs.enqueue(tx, 'directory.import', { id });
    },
    async runQueued(id, run) {
      const row = await importById(civic.db.read, id);
      if (!row || row.state === 'completed' || row.state === 'failed') return;
      try {
        await performAndNote(row, await openTextFile(row.path), formatByName(row.format)!, run);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        await fail(id, error.message.replaceAll(row.path, 'The file'), run.write);
      }
      await rm(row.path, { force: true });
    },
    importById: (id) => importById(civic.db.read, id),
    async purge() {
      const before = new Date(civic.clock.now() - KEPT_DAYS * 86_400_000).toISOString();
      for (let old; (old = await importsFinishedBefore(civic.db.read, before, 100)).length > 0;) {
        for (const row of old) if (row.path === this.uploadPath(row.id)) await rm(row.rejects_path, { force: true });
        const ids = old.map(({ id }) => id);
        await civic.db.write((tx) => deleteImports(tx, ids));
      }
    },
  };
}

function editorOf({ account_id, workspace_id }: ImportRow): Editor {
  return { kind: 'import', account_id, workspace_id };
}

function newImport(id: string, content: string, path: string, rejectsPath: string, bytes: number, settings: ImportSettings, now: string): NewImport {
  const { format, source, timezone, visibility, account_id, workspace_id, may_change_public } = settings;
  const joins = settings.joins ?? !format.isOwn;
  const fingerprint = createHash('sha256').update(JSON.stringify([content, format.name, source, timezone, visibility, workspace_id, joins])).digest('hex');
  return {
    id, fingerprint, format: format.name, path, rejects_path: rejectsPath, source_url: source, timezone, visibility, account_id, workspace_id, may_change_public, joins, bytes_total: bytes, created_at: now,
  };
}

/** Of a dry run, which leaves no row behind. */
function emptyRow(row: NewImport): ImportRow {
  return {
    ...row, key: 0, state: 'running', position: 0, bytes_done: 0, rejects_bytes: 0, created: 0, updated: 0, unchanged: 0, rejected: 0, joined: 0, noted: 0,
    report: '{"faults":[],"notes":[]}', error: null, started_at: null, finished_at: null,
  };
}
