import { join } from 'node:path';
import pino from 'pino';
import { compose, type Composition } from '../../core/compose.ts';
import { describeErrors } from '../../core/config/report.ts';
import { prepare } from '../../core/prepare.ts';
import { testDatabase, type TestDatabase, type TestDialect } from '../../core/testing/database.ts';

async function composed(plugins: object, folder: string, url: string | null = null): Promise<Composition> {
  const { config, plugins: loaded, errors } = await prepare({ env: {}, args: {}, text: JSON.stringify({ data_dir: folder, database: { url }, plugins }) });
  if (errors.length > 0) throw new Error(describeErrors(errors, { color: false }));
  return compose({ config, plugins: loaded, log: pino({ level: 'silent' }) });
}

async function migrated(composition: Composition): Promise<void> {
  try {
    await composition.open({ writes: true, schema: 'migrate' });
  } finally {
    await composition.stop();
  }
}

/**
 * Creates a database for these plugins, for SQLite in `dataDir`: a copy of one that the test run has migrated and filled. Outside a
 * test run it is empty, and the first server migrates it.
 */
export async function readyDatabase(dialect: TestDialect, plugins: object, dataDir: string): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  const database = await testDatabase(dialect, dataDir);
  const { migrations: sets } = await composed(plugins, join(dataDir, 'never-opened'));
  await database.create({ sets, prepare: async (url, folder) => migrated(await composed(plugins, folder, url)) });
  return database;
}
