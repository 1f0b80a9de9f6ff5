import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { benchDatabases, type BenchDatabase } from '../directory/databases.ts';

const TOLD_EVERY = 100_000;

/** Returns a SQLite database with so many generated actors. The first run imports them through the ledger, which takes long; later runs find them. */
export async function filledDatabase(actors: number, folder: string): Promise<BenchDatabase> {
  const [database] = await benchDatabases({ actors, folder, postgres: null, only: 'sqlite' });
  const child = fork(join(import.meta.dirname, '../servers/filler.js'), [database!.folder, String(actors)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const started = performance.now();
  child.on('message', ({ imported }: { imported: number }) => {
    if (imported % TOLD_EVERY === 0) process.stdout.write(`  ${imported.toLocaleString('en-US')} actors after ${Math.round((performance.now() - started) / 1000)} s\n`);
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`Filling the database ended with ${code}`);
  return database!;
}
