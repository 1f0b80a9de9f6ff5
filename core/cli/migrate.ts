import { missingFile } from '../boot.ts';
import type { Composition } from '../compose.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { allMigrationFiles, pendingMigrations, type MigrationName } from '../database/migrate.ts';
import { backUpBeforeUpgrade } from './backup.ts';
import type { Command } from './command.ts';
import { compositionOf, preparedOrFail, restoreCommand, settingsOf } from './settings.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Apply pending database migrations; serve does this at its start',
  options: [
    { name: 'dry-run', summary: 'Only list the pending migrations' },
    { name: 'no-backup', summary: 'Do not back up first' },
  ],
  needs: 'nothing',
  async run({ terminal, options }) {
    const prepared = await preparedOrFail(settingsOf(options), terminal);
    const composition = await compositionOf(prepared);
    try {
      if (options['dry-run']) {
        const pending = await pendingIn(composition);
        return terminal.print(pending.map(nameOf), () => pending.map(label).join('\n') || 'Nothing to do: the database is up to date.');
      }
      const beforeMigrating = options['no-backup'] ? undefined : (db: OpenDatabase) => backUpBeforeUpgrade(db, prepared, terminal);
      const applied = await composition.open({ writes: true, schema: 'migrate', restoreCommand: restoreCommand(options), beforeMigrating, onProgress: terminal.progress });
      terminal.print(applied.map(nameOf), () => (applied.length ? `Applied:\n${applied.map(label).join('\n')}` : 'The database is up to date.'));
    } finally {
      await composition.stop();
    }
  },
};

/** Of a database that is not made yet, all of them; asking does not make it. */
async function pendingIn(composition: Composition): Promise<MigrationName[]> {
  if (missingFile(composition.config)) return allMigrationFiles(composition.migrations);
  await composition.open({ writes: false, schema: 'any' });
  return pendingMigrations(composition.db, composition.migrations);
}

function nameOf({ plugin, name }: MigrationName): MigrationName {
  return { plugin, name };
}

function label({ plugin, name }: MigrationName): string {
  return `  ${plugin}/${name}`;
}
