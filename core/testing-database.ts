import { createTestDatabase } from './testing-postgres.ts';

export type TestDialect = 'sqlite' | 'postgres';

/** A fresh database for one test server. */
export interface TestDatabase {
  /** What goes into `database.url`; null for SQLite in the test's own folder. */
  url: string | null;
  drop(): Promise<void>;
}

/**
 * The databases tests run on: SQLite always, Postgres where `CIVIC_TEST_PG_URL` names one. `npm test` starts one and sets it.
 * `CIVIC_REQUIRE_PG=1` makes its absence an error, so that nobody passes by skipping.
 */
export function testDatabases(): TestDialect[] {
  if (process.env.CIVIC_TEST_PG_URL) return ['sqlite', 'postgres'];
  if (process.env.CIVIC_REQUIRE_PG === '1') throw new Error('CIVIC_REQUIRE_PG is set, but CIVIC_TEST_PG_URL names no Postgres');
  process.stderr.write('skipped on Postgres: CIVIC_TEST_PG_URL is not set (npm test sets it)\n');
  return ['sqlite'];
}

export async function testDatabase(dialect: TestDialect): Promise<TestDatabase> {
  if (dialect === 'sqlite') return { url: null, drop: async () => undefined };
  const admin = process.env.CIVIC_TEST_PG_URL;
  if (!admin) throw new Error('A test on Postgres needs CIVIC_TEST_PG_URL: the address of a Postgres where databases may be made and dropped');
  return createTestDatabase(admin);
}
