import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock, type Clock } from '../clock.ts';
import { Failure } from '../cli/command.ts';
import { version } from '../root.ts';
import type { OpenDatabase } from './connect.ts';
import { LineDigest, tablePages, type Digest, type Page } from './digest.ts';
import { flush, readBlocks, writePages } from './lines.ts';
import { FORMAT, tableFile, type BackupTable, type Manifest } from './manifest.ts';
import { appliedMigrations } from './migrate.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from './private.ts';
import { recordedTables } from './tables.ts';
import type { Tx } from './types.ts';

export interface BackupOptions {
  /** The configuration as YAML, secrets masked; kept beside the tables for the reader. */
  config?: string;
  clock?: Clock;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Writes a backup of one moment into the new folder `path`: `manifest.json`, `config.yaml` and a gzip NDJSON file a
 * table, of plugins on and off. It is read back and compared, and gets its name only when it is whole.
 */
export async function createBackup(db: OpenDatabase, path: string, options: BackupOptions = {}): Promise<Manifest> {
  if (await exists(path)) throw new Failure(`There is already something at ${path}: name another place for the backup.`);
  const partial = `${path}.partial`;
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(join(partial, 'tables'), { recursive: true, mode: PRIVATE_FOLDER });
    const manifest = await db.snapshot((tx) => writeTables(tx, db, partial, options));
    for (const table of manifest.tables) if (!table.derived) await verifyTable(partial, table, options.signal);
    if (options.config !== undefined) await writeFile(join(partial, 'config.yaml'), options.config, { mode: PRIVATE_FILE });
    await writeFile(join(partial, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: PRIVATE_FILE });
    const files = manifest.tables.filter(({ derived }) => !derived).map(({ name }) => tableFile(partial, name));
    if (options.config !== undefined) files.push(join(partial, 'config.yaml'));
    // All at once: the file system writes them together.
    await Promise.all([...files, join(partial, 'manifest.json'), join(partial, 'tables'), partial].map(flush));
    await rename(partial, path);
    await flush(dirname(path));
    return manifest;
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    if (error instanceof Failure) throw error;
    if (options.signal?.aborted) throw new Failure('The backup was cancelled; nothing was left behind.');
    throw new Failure(`The backup to ${path} failed, and nothing was left behind: ${(error as Error).message}`, { cause: error });
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(() => true, () => false);
}

async function writeTables(tx: Tx, db: OpenDatabase, folder: string, options: BackupOptions): Promise<Manifest> {
  const manifest: Manifest = {
    format: FORMAT, version, created_at: (options.clock ?? systemClock).iso(), dialect: db.dialect, migrations: {}, tables: [],
  };
  for (const { plugin, name } of await appliedMigrations(tx)) (manifest.migrations[plugin] ??= []).push(name);
  const recorded = await recordedTables(tx);
  const counted = recorded.filter(({ derived }) => !derived);
  let total = 0;
  for (const { name } of counted) total += Number((await tx(name).count({ rows: '*' }))[0]!.rows);
  let done = 0;
  for (const table of recorded) {
    const digest = new LineDigest();
    async function* pages(): AsyncGenerator<Page> {
      for await (const page of tablePages(tx, table)) {
        options.signal?.throwIfAborted();
        digest.add(page);
        options.onProgress?.((done += page.rows), total);
        yield page;
      }
    }
    if (!table.derived) await writePages(tableFile(folder, table.name), pages());
    manifest.tables.push({ ...table, ...digest.result() });
  }
  return manifest;
}

/** Reads a table's file and throws when it is not what the manifest says. */
export async function verifyTable(folder: string, table: BackupTable, signal?: AbortSignal): Promise<void> {
  const digest = new LineDigest();
  try {
    for await (const block of readBlocks(tableFile(folder, table.name))) {
      signal?.throwIfAborted();
      digest.add(block);
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(`The backup ${folder} is damaged: tables/${table.name}.ndjson.gz cannot be read (${(error as Error).message}).`);
  }
  const found: Digest = digest.result();
  if (found.rows !== table.rows) throw new Failure(`The backup ${folder} is damaged: tables/${table.name}.ndjson.gz holds ${found.rows} rows instead of ${table.rows}.`);
  if (found.sha256 !== table.sha256) throw new Failure(`The backup ${folder} is damaged: tables/${table.name}.ndjson.gz is not what was written (its digest differs).`);
}
