import { Failure } from '../cli/command.ts';
import { decodeRow } from './canonical.ts';
import { verifyTable } from './backup.ts';
import type { OpenDatabase } from './connect.ts';
import { bulkInsert, type Row } from './dialect.ts';
import { tableDigest } from './digest.ts';
import { readLines } from './lines.ts';
import { manifestMigrations, readManifest, tableFile, type BackupTable, type Manifest } from './manifest.ts';
import { allMigrationFiles, applyMigration, migrationFiles, missingFiles, recordMigration, type MigrationFile, type MigrationName, type MigrationSet } from './migrate.ts';
import { createRecordedTable } from './schema.ts';
import { createBookkeeping, recordedTables } from './tables.ts';
import type { Dialect, Reader, Tx } from './types.ts';

const BATCH_BYTES = 2_000_000;
const BATCH_ROWS = 2000;

export interface RestoreOptions {
  /** Plugins that are off, but whose migrations are at hand: their tables are made by these and stay as old as the backup. */
  off?: MigrationSet[];
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

export interface Restored {
  manifest: Manifest;
  /** Migrations newer than the backup that were run on top. */
  migrated: MigrationName[];
}

/**
 * Loads a backup into an empty database, in one transaction: whatever goes wrong leaves it empty. `sets` are the
 * migrations of the plugins that are on. Tables of plugins that are not at hand are made as the manifest describes them.
 * Derived tables stay empty: the caller or the next start fills them.
 */
export async function restoreBackup(db: OpenDatabase, folder: string, sets: MigrationSet[], options: RestoreOptions = {}): Promise<Restored> {
  const manifest = await readManifest(folder);
  await refuseNewer(manifest, folder, sets);
  await refuseFilled(db.read, db.dialect);
  const files = await allMigrationFiles(sets);
  const builders = [...files, ...(await filesOfOff(manifest, options.off ?? []))];
  const filled = manifest.tables.filter(({ derived }) => !derived);
  try {
    for (const table of filled) await verifyTable(folder, table, options.signal);
    const migrated = await db.write(async (tx) => {
      await refuseFilled(tx, db.dialect);
      await createBookkeeping(tx);
      await buildSchema(tx, manifest, builders);
      await load(tx, db.dialect, folder, filled, options);
      await verifyLoaded(tx, db.dialect, filled);
      const newer = await runNewer(tx, manifest, files);
      await dropLeases(tx);
      options.signal?.throwIfAborted();
      return newer;
    }, { long: true });
    return { manifest, migrated };
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (options.signal?.aborted) throw new Failure('The restore was cancelled; the database is as empty as before.');
    throw new Failure(`The restore of ${folder} failed, and the database is as empty as before: ${(error as Error).message}`, { cause: error });
  }
}

async function refuseNewer(manifest: Manifest, folder: string, sets: MigrationSet[]): Promise<void> {
  const [missing] = await missingFiles(manifestMigrations(manifest), sets);
  if (!missing) return;
  throw new Failure(`The backup ${folder} was made by a newer version of civic (${manifest.version}): the plugin ${missing.plugin} had run the migration ${missing.name}, which this version does not have. Update civic, then restore it.`);
}

/** Migrations of a plugin that is off are of use when they reach as far as the backup; else the manifest serves. */
async function filesOfOff(manifest: Manifest, off: MigrationSet[]): Promise<MigrationFile[]> {
  const useful: MigrationFile[] = [];
  for (const set of off) {
    const files = await migrationFiles(set);
    const had = manifest.migrations[set.plugin] ?? [];
    if (had.length > 0 && had.every((name) => files.some((file) => file.name === name))) useful.push(...files);
  }
  return useful;
}

async function refuseFilled(db: Reader, dialect: Dialect): Promise<void> {
  const rows: { name: string }[] = await db.raw(dialect === 'sqlite'
    ? "select name from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!' order by name"
    : 'select tablename as name from pg_tables where schemaname = current_schema() order by tablename');
  if (rows.length === 0) return;
  throw new Failure(`The database is not empty: it has ${rows.length} tables (${rows.slice(0, 3).map(({ name }) => name).join(', ')}${rows.length > 3 ? ', …' : ''}). A backup is restored into an empty one: ${dialect === 'sqlite'
    ? 'move the database file and those beside it with -wal and -shm away, or use another data folder with --data.'
    : 'create a new database and name it in database.url.'}`);
}

function isInBackup(manifest: Manifest, { plugin, name }: MigrationName): boolean {
  return manifest.migrations[plugin]?.includes(name) ?? false;
}

/** The schema as it was when the backup was made. */
async function buildSchema(tx: Tx, manifest: Manifest, files: MigrationFile[]): Promise<void> {
  for (const file of files) if (isInBackup(manifest, file)) await applyMigration(tx, file);
  const atHand = new Set(files.map(({ plugin }) => plugin));
  for (const [plugin, names] of Object.entries(manifest.migrations)) {
    if (!atHand.has(plugin)) for (const name of names) await recordMigration(tx, { plugin, name });
  }
  const made = new Map((await recordedTables(tx)).map((table) => [table.name, table]));
  for (const table of manifest.tables) {
    const own = made.get(table.name);
    if (!own && !atHand.has(table.plugin)) await createRecordedTable(tx, table);
    else if (JSON.stringify(own?.definition.columns) !== JSON.stringify(table.definition.columns)) {
      throw new Failure(`The migrations of the plugin ${table.plugin} make the table ${table.name} differently than they did when the backup was made.`);
    }
  }
}

async function load(tx: Tx, dialect: Dialect, folder: string, tables: BackupTable[], options: RestoreOptions): Promise<void> {
  // Rows come table by table and in the order of their keys, which is not the order of references.
  await tx.raw(dialect === 'sqlite' ? 'pragma defer_foreign_keys = on' : 'set constraints all deferred');
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  // Migrations may have put rows of their own into the new tables.
  for (const table of tables.toReversed()) await tx(table.name).delete();
  for (const table of tables) {
    for await (const rows of batches(folder, table)) {
      options.signal?.throwIfAborted();
      await insertRows(tx, table, rows);
      options.onProgress?.((done += rows.length), total);
    }
    if (dialect === 'postgres') await resetIdentity(tx, table);
  }
}

async function insertRows(tx: Tx, table: BackupTable, rows: Row[]): Promise<void> {
  try {
    await bulkInsert(tx, table.name, rows);
  } catch (error) {
    throw new Failure(`A row of the table ${table.name} cannot be stored, and the database is as empty as before: ${(error as Error).message}`, { cause: error });
  }
}

async function* batches(folder: string, table: BackupTable): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let bytes = 0;
  for await (const line of readLines(tableFile(folder, table.name))) {
    rows.push(decodeRow(table.definition, line));
    bytes += line.length;
    if (bytes < BATCH_BYTES && rows.length < BATCH_ROWS) continue;
    yield rows;
    rows = [];
    bytes = 0;
  }
  if (rows.length > 0) yield rows;
}

/** New rows get keys above the restored ones. */
async function resetIdentity(tx: Tx, table: BackupTable): Promise<void> {
  const key = table.definition.columns.find(([, kind]) => kind === 'id')?.[0];
  if (key) await tx.raw('select setval(pg_get_serial_sequence(?, ?), greatest(max(??), 1), max(??) is not null) from ??', [table.name, key, key, key, table.name]);
}

async function verifyLoaded(tx: Tx, dialect: Dialect, tables: BackupTable[]): Promise<void> {
  for (const table of tables) {
    const { rows, sha256 } = await tableDigest(tx, table);
    if (rows !== table.rows || sha256 !== table.sha256) throw new Failure(`The table ${table.name} reads differently than it was written; the database is as empty as before.`);
  }
  if (dialect === 'postgres') await tx.raw('set constraints all immediate');
  else if ((await tx.raw('pragma foreign_key_check')).length > 0) throw new Failure('The backup holds rows that refer to missing ones; the database is as empty as before.');
}

async function runNewer(tx: Tx, manifest: Manifest, files: MigrationFile[]): Promise<MigrationName[]> {
  const newer = files.filter((file) => !isInBackup(manifest, file));
  for (const file of newer) await applyMigration(tx, file);
  return newer.map(({ plugin, name }) => ({ plugin, name }));
}

/** The workers that held jobs are not here. */
async function dropLeases(tx: Tx): Promise<void> {
  if (await tx.schema.hasTable('core_jobs')) await tx('core_jobs').where({ state: 'running' }).update({ state: 'pending', token: null, lease_until: null });
}
