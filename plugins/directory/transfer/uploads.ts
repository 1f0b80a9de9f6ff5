import { isBoom } from '@hapi/boom';
import { afterCommit, Failure, problem, type Civic, type Tx } from 'civic';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectoryConfig } from '../config.ts';
import { AuthorityLost } from './authority.ts';
import { deleteImports, failImport, finishedUploads, importById, importsFinishedBefore, lockAccount, uploadUse, unfinishedUploads, type ImportRow } from './store.ts';

export interface UploadsOptions {
  civic: Pick<Civic<DirectoryConfig>, 'clock' | 'instance' | 'jobs' | 'config'> & { readonly db: Civic['db'] };
}

/** The files that callers sent, from the first byte until their import ends, and what an account may store. */
export interface Uploads {
  path(id: string): string;
  rejectsPath(id: string): string;
  /** Runs `work` while a body arrives. Rejects more bodies at once than an account may have imports. */
  receive<T>(accountId: string, work: () => Promise<T>): Promise<T>;
  /** Throws `too_many_imports` when the account has no room for another upload. Deletes its oldest reports where they fill its quota. */
  admit(tx: Tx, accountId: string, bytes: number): Promise<void>;
  /** Marks an upload as failed and deletes its file. */
  fail(row: ImportRow, error: unknown, write: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T>): Promise<void>;
  /** Ends uploads whose job ended without them, and deletes files and reports that are no longer needed. */
  sweep(): Promise<void>;
}

const REPORT_DAYS = 30;
const RETRY_SECONDS = 10;
/** A file without a row belongs to a request that is still sending, or to a process that died. */
const ORPHAN_MS = 3600_000;
const MEGABYTE = 1024 * 1024;

export function createUploads({ civic }: UploadsOptions): Uploads {
  const receiving = new Map<string, number>();
  const folder = () => join(civic.instance.data_dir, 'imports');
  const path = (id: string) => join(folder(), `${id}.upload`);
  const rejectsPath = (id: string) => join(folder(), `${id}.rejects.ndjson`);

  function tooMany(limit: number, detail: string): Error {
    return problem('too_many_imports', {
      detail,
      headers: {
        'retry-after': String(RETRY_SECONDS), 'x-ratelimit-limit': String(limit), 'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil(civic.clock.now() / 1000) + RETRY_SECONDS),
      },
    });
  }

  /** Rejected rows of the command line's imports lie beside the imported file and belong to the operator. */
  async function deleteReports(tx: Tx, rows: ImportRow[]): Promise<void> {
    await deleteImports(tx, rows.map(({ id }) => id));
    afterCommit(tx, () => {
      for (const row of rows) if (row.rejects_path === rejectsPath(row.id)) void rm(row.rejects_path, { force: true }).catch(() => undefined);
    });
  }

  async function endAbandoned(): Promise<void> {
    const dayAgo = new Date(civic.clock.now() - 86_400_000).toISOString();
    for (const row of await unfinishedUploads(civic.db.read)) {
      const job = row.job_id === null ? null : await civic.jobs.byId(row.job_id);
      const isUnderWay = row.job_id === null ? row.created_at > dayAgo : job?.state === 'pending' || job?.state === 'running';
      if (!isUnderWay) await fail(row, new Error(job?.error ?? 'The process that ran the import ended'), civic.db.write);
    }
  }

  async function deleteOrphans(): Promise<void> {
    const names = await readdir(folder()).catch(() => []);
    for (const name of names) {
      const [, id] = /^([0-9a-f-]{36})\.(?:upload|rejects\.ndjson)$/.exec(name) ?? [];
      if (!id) continue;
      const row = await importById(civic.db.read, id);
      const isOrphan = row ? name.endsWith('.upload') && row.finished_at !== null : await isOld(join(folder(), name));
      if (isOrphan) await rm(join(folder(), name), { force: true });
    }
  }

  const fail: Uploads['fail'] = async (row, error, write) => {
    const { code, detail } = failureOf(error, row);
    await write((tx) => failImport(tx, row.id, { error: detail, error_code: code, finished_at: civic.clock.iso() }));
    await rm(row.path, { force: true });
  };

  return {
    path,
    rejectsPath,
    async receive(accountId, work) {
      const { active } = civic.config.uploads;
      const now = receiving.get(accountId) ?? 0;
      if (now >= active) throw tooMany(active, `${now} of your files are being received, and an account may send ${active} at the same time.`);
      receiving.set(accountId, now + 1);
      try {
        return await work();
      } finally {
        const left = receiving.get(accountId)! - 1;
        if (left > 0) receiving.set(accountId, left);
        else receiving.delete(accountId);
      }
    },
    async admit(tx, accountId, bytes) {
      const { active, kept, megabytes } = civic.config.uploads;
      await lockAccount(tx, accountId);
      const use = await uploadUse(tx, accountId);
      if (use.active >= active) throw tooMany(active, `${use.active} of your imports wait or run, and an account may have ${active} at the same time.`);
      const room = megabytes * MEGABYTE - use.bytes - bytes;
      if (room < 0) throw tooMany(megabytes * MEGABYTE, `Your imports that wait or run take ${use.bytes} bytes, and with these ${bytes} they would take more than ${megabytes} MB.`);
      let stored = 0;
      const excess = (await finishedUploads(tx, accountId)).filter((row, at) => (stored += Number(row.rejects_bytes)) > room || at >= kept - use.active - 1);
      await deleteReports(tx, excess);
    },
    fail,
    async sweep() {
      await endAbandoned();
      const before = new Date(civic.clock.now() - REPORT_DAYS * 86_400_000).toISOString();
      for (let old; (old = await importsFinishedBefore(civic.db.read, before, 100)).length > 0;) {
        const rows = old;
        await civic.db.write((tx) => deleteReports(tx, rows));
      }
      await deleteOrphans();
    },
  };
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ORPHAN_MS;
}

/** Describes a failure for the caller who sent the file. A Failure is about the file; other errors are the server's. */
function failureOf(error: unknown, row: ImportRow): { code: string; detail: string } {
  if (error instanceof AuthorityLost) return { code: 'authority_lost', detail: `${error.message}. The first ${row.position} rows of the file are imported.` };
  if (error instanceof Failure) return { code: 'unreadable_file', detail: error.message.replaceAll(row.path, 'The file') };
  const code = storageCode(error);
  const why = code ? 'The server has no room on its disk, or cannot write to it' : 'The server could not finish this import';
  return { code: code ?? 'import_failed', detail: `${why}. The first ${row.position} rows of the file are imported; send the file again to import the rest.` };
}

/** The code of a disk that is full or broken; null for any other error. */
export function storageCode(error: unknown): 'storage_full' | 'storage_failed' | null {
  const code = isBoom(error) ? (error.data as { code?: string } | null)?.code : (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'storage_full' || code === 'ENOSPC' || code === 'EDQUOT') return 'storage_full';
  return code === 'storage_failed' || code === 'EIO' || code === 'EROFS' ? 'storage_failed' : null;
}
