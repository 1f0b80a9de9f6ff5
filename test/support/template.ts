import { join } from 'node:path';
import pino from 'pino';
import { compose, type Composition } from '../../core/compose.ts';
import { describeErrors } from '../../core/config/report.ts';
import { prepare } from '../../core/prepare.ts';
import { copySqliteTemplate } from '../../core/testing/template.ts';

async function composed(plugins: object, folder: string): Promise<Composition> {
  const { config, plugins: loaded, errors } = await prepare({ env: {}, args: {}, text: JSON.stringify({ data_dir: folder, plugins }) });
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

/** Puts a migrated and filled database of these plugins into a data folder: made once in a run of tests, then copied. Leaves it to the server outside of one. */
export async function copyReadyDatabase(plugins: object, dataDir: string): Promise<void> {
  const { migrations } = await composed(plugins, join(dataDir, 'never-opened'));
  await copySqliteTemplate(migrations, dataDir, async (_url, folder) => migrated(await composed(plugins, folder)));
}
