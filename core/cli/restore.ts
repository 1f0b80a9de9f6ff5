import { mkdtemp, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { unpackArchive } from '../database/archive.ts';
import type { MigrationSet } from '../database/migrate.ts';
import { restoreBackup } from '../database/restore.ts';
import { bundledPlugins, LoadFailure, loadPlugin } from '../load.ts';
import { call, callAny } from '../program.ts';
import { projectRoot } from '../root.ts';
import { Failure, type Command } from './command.ts';
import { compositionOf, preparedOrFail, settingsOf, withDatabase } from './settings.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'Fill an empty instance from a backup, on SQLite or Postgres',
  arguments: '<backup>',
  examples: ['bin/civic restore data/backups/2026-01-31T08-00-00-000', 'bin/civic restore ~/Downloads/2026-01-31T08-00-00-000-console.tar', 'CIVIC_DATABASE_URL=postgres://… bin/civic restore data/backups/…'],
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const prepared = await preparedOrFail(settingsOf(options), terminal);
    const composition = await compositionOf(prepared);
    await withDatabase(composition, { writes: true, schema: 'any' }, async () => {
      const off = await migrationsOfOthers(composition.plugins.map((plugin) => plugin.name));
      const { manifest, migrated } = await withFolder(resolve(positionals[0]!), prepared.config.data_dir, (folder) => restoreBackup(composition.db, folder, composition.migrations, {
        off,
        signal: terminal.signal,
        onProgress: (done, total) => { terminal.progress('Restoring', done, total); },
      }));
      await composition.fillReadModels(terminal.progress).catch((error: Error) => {
        throw new Failure(`${error.message}\nEverything is restored; ${callAny('serve') || call('migrate')} tries that again when it starts.`, { cause: error });
      });
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
      terminal.print({ rows, tables: manifest.tables.length, migrated }, () => `Restored ${rows.toLocaleString('en-US')} rows of ${manifest.tables.length} tables, made on ${manifest.created_at} by civic ${manifest.version}.${migrated.length ? ` Applied ${migrated.length} newer migrations.` : ''}`);
    });
  },
};

/** Calls `work` with the folder of a backup. A tar file, as the console sends it, is unpacked beside the data first. */
async function withFolder<T>(path: string, dataFolder: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (!(await stat(path).catch(() => null))?.isFile()) return work(path);
  const folder = await mkdtemp(join(dataFolder, 'restoring-'));
  try {
    await unpackArchive(path, join(folder, 'backup'));
    return await work(join(folder, 'backup'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A backup holds the tables of plugins that are off too; their own migrations make the best tables for them. */
async function migrationsOfOthers(on: string[]): Promise<MigrationSet[]> {
  const sets: MigrationSet[] = [];
  for (const name of bundledPlugins().filter((other) => !on.includes(other))) {
    try {
      const { migrations } = await loadPlugin(name, undefined, projectRoot);
      if (migrations) sets.push({ plugin: name, folder: migrations });
    } catch (error) {
      if (!(error instanceof LoadFailure)) throw error;
    }
  }
  return sets;
}
