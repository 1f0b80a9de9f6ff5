import { startPostgres } from '../core/testing/postgres.ts';
import { testDatabases } from '../core/testing.ts';

/** Measures on SQLite, and on a Postgres of its own where one is installed. Returns whether all figures are within their limits. */
export async function onEachDatabase(measure: (database: 'sqlite' | 'postgres') => Promise<boolean>): Promise<boolean> {
  const postgres = await startPostgres();
  if ('missing' in postgres) process.stdout.write(`skipped on Postgres: ${postgres.missing}\n`);
  else process.env.CIVIC_TEST_PG_URL = postgres.url;
  try {
    let isInside = true;
    for (const database of testDatabases()) isInside = await measure(database) && isInside;
    return isInside;
  } finally {
    if (!('missing' in postgres)) await postgres.stop();
  }
}
