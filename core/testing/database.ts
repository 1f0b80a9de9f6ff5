import type { DriverName } from '../database/sqlite/driver.ts';
import type { MigrationSet } from '../database/migrate.ts';
import { copySqliteTemplate, postgresTemplate, type Prepare } from './template.ts';

export type TestDialect = 'sqlite' | 'postgres';

/** A fresh database for one test server. */
export interface TestDatabase {
  /** What goes into `database.url`; null for SQLite in the test's own folder. */
  url: string | null;
  /** Creates it: empty, or with the schema of these migrations and its derived tables where that saves time. */
  create(schema?: { sets: MigrationSet[]; prepare: Prepare }): Promise<void>;
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

/** The driver of SQLite in tests: sqlite3, or the one that `CIVIC_TEST_SQLITE_DRIVER` names. */
export function testDriver(): DriverName {
  const name = process.env.CIVIC_TEST_SQLITE_DRIVER || 'sqlite3';
  if (name !== 'sqlite3' && name !== 'node') throw new Error(`CIVIC_TEST_SQLITE_DRIVER is sqlite3 or node, not ${name}`);
  return name;
}

/** The environment that makes a server of a test use that driver; empty where it is the usual one. */
export function driverEnvironment(): Record<string, string> {
  return testDriver() === 'sqlite3' ? {} : { CIVIC_DATABASE_DRIVER: testDriver() };
}

/** A database that is made by `create`, once it is known which migrations it will be opened with. */
export async function testDatabase(dialect: TestDialect, dataDir: string): Promise<TestDatabase> {
  if (dialect === 'sqlite') return { url: null, create: async (schema) => { if (schema) await copySqliteTemplate(schema.sets, dataDir, schema.prepare); }, drop: async () => undefined };
  const admin = process.env.CIVIC_TEST_PG_URL;
  if (!admin) throw new Error('A test on Postgres needs CIVIC_TEST_PG_URL: the address of a Postgres where databases may be made and dropped');
  const { planTestDatabase } = await import('./postgres.ts');
  const { url, create, drop } = planTestDatabase(admin);
  return { url, drop, create: async (schema) => create(schema && await postgresTemplate(admin, schema.sets, schema.prepare)) };
}

/** An empty database, for tests that open it themselves. */
export async function emptyDatabase(dialect: TestDialect): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  const database = await testDatabase(dialect, '');
  if (dialect === 'postgres') await database.create();
  return database;
}
