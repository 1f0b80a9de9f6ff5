import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure } from '../cli/command.ts';
import { systemClock } from '../clock.ts';
import type { OpenDatabase } from './connect.ts';
import { manifestMigrations, newestBackup, type MigrationName } from './manifest.ts';
import { createSchema } from './schema.ts';
import { createBookkeeping } from './tables.ts';
import type { Migration, Reader, Tx } from './types.ts';

export type { MigrationName };

/** A plugin and the folder of its migrations. */
export interface MigrationSet {
  plugin: string;
  folder: string;
}

export interface MigrationFile extends MigrationName {
  path: string;
}

export interface MigrateOptions {
  /** Once, before the first pending migration of a database that is not new: the backup. What it answers is called when that migration failed, and so nothing has changed. */
  beforeFirst?: () => Promise<(() => Promise<void>) | void>;
  /** What a newer database is refused with. */
  goingBack?: GoingBack;
}

/** The way back to the backup made before an upgrade. */
export interface GoingBack {
  /** The folder of backups. */
  backups: string;
  /** The command that puts the newer database aside; null when an empty one has to be made by hand. */
  asideCommand: string | null;
  restoreCommand(folder: string): string;
}

const FILE = /^(\d{3}_[a-z0-9_]+)\.(js|ts)$/;

export const coreMigrations: MigrationSet = { plugin: 'core', folder: join(import.meta.dirname, 'migrations') };

function withCore(sets: MigrationSet[]): MigrationSet[] {
  return [coreMigrations, ...sets];
}

/** The migrations of a folder, in the order of their names. */
export async function migrationFiles({ plugin, folder }: MigrationSet): Promise<MigrationFile[]> {
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

export async function recordMigration(tx: Tx, { plugin, name }: MigrationName): Promise<void> {
  await tx('core_migrations').insert({ plugin, name, applied_at: systemClock.iso() });
}

/** Runs one migration and records it. */
export async function applyMigration(tx: Tx, file: MigrationFile): Promise<void> {
  try {
    const { up } = await load(file);
    await up(createSchema(tx, file.plugin));
    await recordMigration(tx, file);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Failure(`The migration ${file.name} of the plugin ${file.plugin} failed, and nothing of it was kept: ${cause} (${file.path})`, { cause: error });
  }
}

/** Runs what is pending, each migration in a transaction of its own, and answers their names. Several nodes may call it at once. */
export async function migrate(db: OpenDatabase, sets: MigrationSet[], options: MigrateOptions = {}): Promise<MigrationName[]> {
  const newer = await newerMigrations(db, sets);
  if (newer.length > 0) {
    const [first] = newer;
    throw new Failure([
      `The database is newer than this version of civic: the plugin ${first!.plugin} has run the migration ${first!.name}, which this version does not have.`,
      'Run the newer version again, or go back to the backup made before the upgrade.',
      ...(options.goingBack ? await wayBack(options.goingBack, sets) : []),
    ].join('\n'));
  }
  if ((await pendingMigrations(db, sets)).length === 0) return [];
  return await db.exclusively('migrations', () => runPending(db, sets, options));
}

async function wayBack({ backups, asideCommand, restoreCommand }: GoingBack, sets: MigrationSet[]): Promise<string[]> {
  const found = await newestBackup(backups, async (manifest) => (await missingFiles(manifestMigrations(manifest), sets)).length === 0);
  if (!found) return [`No backup that fits this version was found in ${backups}.`];
  return [
    `To go back to ${found.manifest.created_at}, losing what was stored since, ${asideCommand ? '' : 'create an empty database, name it in database.url, and '}run:`,
    ...(asideCommand ? [`  ${asideCommand}`] : []),
    `  ${restoreCommand(found.path)}`,
  ];
}

/** A Postgres whose owner gave this user a database without the right to fill it. */
async function explainRefused(db: OpenDatabase, error: unknown): Promise<never> {
  if ((error as { code?: string }).code !== '42501') throw error;
  const [who] = await db.read.raw('select current_user as name, current_database() as database');
  throw new Failure(`The user ${who.name} may not make tables in the database ${who.database}. As its owner, run there: grant create on schema public to ${who.name}`);
}

async function runPending(db: OpenDatabase, sets: MigrationSet[], options: MigrateOptions): Promise<MigrationName[]> {
  const pending = await pendingMigrations(db, sets);
  if (pending.length === 0) return [];
  const isNew = (await appliedMigrations(db.read)).length === 0;
  const forget = isNew ? undefined : await options.beforeFirst?.();
  await db.write(createBookkeeping).catch((error: unknown) => explainRefused(db, error));
  for (const [index, file] of pending.entries()) {
    try {
      await db.write((tx) => applyMigration(tx, file), { long: true });
    } catch (error) {
      if (index === 0) await forget?.();
      throw error;
    }
  }
  return pending.map(({ plugin, name }) => ({ plugin, name }));
}
