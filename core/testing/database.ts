import type { DriverName } from '../database/sqlite/driver.ts';
import type { MigrationSet } from '../database/migrate.ts';
import { copySqliteTemplate, postgresTemplate, type Prepare } from './template.ts';

export type TestDialect = 'sqlite' | 'postgres';

/** A new database for one test server. */
export interface TestDatabase {
  /** The value of `database.url`; null for SQLite in the folder of the test. */
  url: string | null;
  /** Creates the database: empty, or as a copy of a template with this schema and filled derived tables. */
  create(schema?: { sets: MigrationSet[]; prepare: Prepare }): Promise<void>;
  drop(): Promise<void>;
}

/**
 * The databases tests run on: SQLite always, Postgres where `CIVIC_TEST_PG_URL` names one. `npm test` starts one and sets it.
 * `CIVIC_REQUIRE_PG=1` makes its absence an error, so that a run cannot pass by skipping tests.
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

/** Returns the environment variable that selects that driver; empty for the default one. */
export function driverEnvironment(): Record<string, string> {
  return testDriver() === 'sqlite3' ? {} : { CIVIC_DATABASE_DRIVER: testDriver() };
}

/** Returns a database to be created by `create`, once its migrations are known. */
export async function testDatabase(dialect: TestDialect, dataDir: string): Promise<TestDatabase> {
  if (dialect === 'sqlite') return { url: null, create: async (schema) => { if (schema) await copySqliteTemplate(schema.sets, dataDir, schema.prepare); }, drop: async () => undefined };
  const admin = process.env.CIVIC_TEST_PG_URL;
  if (!admin) throw new Error('A test on Postgres needs CIVIC_TEST_PG_URL: the URL of a Postgres server whose user may create and drop databases');
  const { planTestDatabase } = await import('./postgres.ts');
  const { url, create, drop } = planTestDatabase(admin);
  return { url, drop, create: async (schema) => create(schema && await postgresTemplate(admin, schema.sets, schema.prepare)) };
}

/** Creates an empty database, for tests that open it themselves. */
export async function emptyDatabase(dialect: TestDialect): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  const database = await testDatabase(dialect, '');
  if (dialect === 'postgres') await database.create();
  return database;
}
