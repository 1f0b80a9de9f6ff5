import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure } from '../cli/command.ts';
import type { Logger } from '../log.ts';
import type { OpenDatabase } from './connect.ts';
import { createSchema } from './schema.ts';
import { createBookkeeping } from './tables.ts';
import type { Migration, Reader, Tx } from './types.ts';

/** A plugin and the folder of its migrations. */
export interface MigrationSet {
  plugin: string;
  folder: string;
}

export interface MigrationFile {
  plugin: string;
  name: string;
  path: string;
}

export interface MigrationName {
  plugin: string;
  name: string;
}

export interface MigrateOptions {
  /** Once, before the first pending migration of a database that is not new: the backup. */
  beforeFirst?: () => Promise<void>;
  /** Where to look for the backup made before an upgrade, when the database is newer. */
  newerHint?: (newer: MigrationName[]) => Promise<string>;
  log?: Logger;
  onProgress?: (done: number, total: number) => void;
}

const FILE = /^(\d{3}_[a-z0-9_]+)\.(js|ts)$/;

export const coreMigrations: MigrationSet = { plugin: 'core', folder: join(import.meta.dirname, 'migrations') };

function withCore(sets: MigrationSet[]): MigrationSet[] {
  return [coreMigrations, ...sets];
}

/** The migrations of a folder, in the order of their names. */
async function migrationFiles({ plugin, folder }: MigrationSet): Promise<MigrationFile[]> {
  let entries;
  try {
    entries = await readdir(folder);
  } catch {
    throw new Failure(`The plugin ${plugin} names a folder of migrations that is not there: ${folder}`);
  }
  const files = entries.filter((entry) => /\.(js|ts)$/.test(entry) && !entry.endsWith('.d.ts')).sort();
  return files.map((entry) => {
    const match = FILE.exec(entry);
    if (!match) throw new Failure(`The plugin ${plugin} has a migration named ${entry}: name it like 001_first.js`);
    return { plugin, name: match[1]!, path: join(folder, entry) };
  });
}

export async function allMigrationFiles(sets: MigrationSet[]): Promise<MigrationFile[]> {
  return (await Promise.all(withCore(sets).map(migrationFiles))).flat();
}

/** What was run, of plugins on and off; empty for a new database. */
export async function appliedMigrations(db: Reader): Promise<MigrationName[]> {
  if (!(await db.schema.hasTable('core_migrations'))) return [];
  return await db('core_migrations').select('plugin', 'name').orderBy(['plugin', 'name']);
}

const label = ({ plugin, name }: MigrationName) => `${plugin}/${name}`;

export async function pendingMigrations(db: OpenDatabase, sets: MigrationSet[]): Promise<MigrationFile[]> {
  const applied = new Set((await appliedMigrations(db.read)).map(label));
  return (await allMigrationFiles(sets)).filter((file) => !applied.has(label(file)));
}

/** What was run for plugins in `sets` that their folders lack: the database belongs to a newer version. */
export async function newerMigrations(db: OpenDatabase, sets: MigrationSet[]): Promise<MigrationName[]> {
  return missingFiles(await appliedMigrations(db.read), sets);
}

export async function missingFiles(applied: MigrationName[], sets: MigrationSet[]): Promise<MigrationName[]> {
  const known = new Set((await allMigrationFiles(sets)).map(label));
  const plugins = new Set(withCore(sets).map((set) => set.plugin));
  return applied.filter((migration) => plugins.has(migration.plugin) && !known.has(label(migration)));
}

async function load(file: MigrationFile): Promise<Migration> {
  const module = (await import(pathToFileURL(file.path).href)) as Partial<Migration>;
  if (typeof module.up !== 'function') throw new Error('it does not export a function up');
  return module as Migration;
}

/** Runs one migration and records it. */
export async function applyMigration(tx: Tx, file: MigrationFile): Promise<void> {
  try {
    const { up } = await load(file);
    await up(createSchema(tx, file.plugin));
    await tx('core_migrations').insert({ plugin: file.plugin, name: file.name, applied_at: new Date().toISOString() });
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Failure(`The migration ${file.name} of the plugin ${file.plugin} failed, and nothing of it was kept: ${cause} (${file.path})`, { cause: error });
  }
}

/** Runs what is pending, each migration in a transaction of its own, and answers their names. Several nodes may call it at once. */
export async function migrate(db: OpenDatabase, sets: MigrationSet[], options: MigrateOptions = {}): Promise<MigrationName[]> {
  const newer = await newerMigrations(db, sets);
  if (newer.length > 0) {
    const hint = (await options.newerHint?.(newer)) ?? '';
    const [first] = newer;
    throw new Failure(`The database is newer than this version of civic: the plugin ${first!.plugin} has run the migration ${first!.name}, which this version does not have.${hint && `\n${hint}`}`);
  }
  if ((await pendingMigrations(db, sets)).length === 0) return [];
  return await db.exclusively('migrations', () => runPending(db, sets, options));
}

async function runPending(db: OpenDatabase, sets: MigrationSet[], options: MigrateOptions): Promise<MigrationName[]> {
  const pending = await pendingMigrations(db, sets);
  if (pending.length === 0) return [];
  const isNew = (await appliedMigrations(db.read)).length === 0;
  if (!isNew) await options.beforeFirst?.();
  await db.write(createBookkeeping);
  for (const [index, file] of pending.entries()) {
    options.onProgress?.(index, pending.length);
    await db.write((tx) => applyMigration(tx, file), { long: true });
    options.log?.info({ plugin: file.plugin }, `Migrated ${file.name}`);
  }
  options.onProgress?.(pending.length, pending.length);
  return pending.map(({ plugin, name }) => ({ plugin, name }));
}
