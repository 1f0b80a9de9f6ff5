import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { quiet } from '../../test/quiet.ts';
import { emptyDatabase, testDatabases, testDriver } from '../../testing/database.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from '../connect.ts';
import { migrate, type MigrationSet } from '../migrate.ts';
import { chooseDriver, hasNodeSqlite } from '../sqlite/choose.ts';
import type { DriverName, SqliteDriver } from '../sqlite/driver.ts';
import type { Dialect } from '../types.ts';

export { quiet };

/** A database for one test file: opened as often as needed, thrown away at the end. */
export interface TestDatabase {
  dialect: Dialect;
  dataDir: string;
  url: string | null;
  open(options?: Partial<DatabaseOptions>): Promise<OpenDatabase>;
  /** Closes what is open and empties the database. */
  reset(): Promise<void>;
  drop(): Promise<void>;
}

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone when the tests are over. */
export async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'civic-test-'));
  folders.push(folder);
  return folder;
}

async function createDatabase(dialect: Dialect, driver: DriverName): Promise<TestDatabase> {
  const dataDir = await createFolder();
  const { url, drop } = await emptyDatabase(dialect);
  const open = new Set<OpenDatabase>();
  async function closeAll(): Promise<void> {
    for (const db of open) await db.close();
    open.clear();
  }
  return {
    dialect,
    dataDir,
    url,
    async open(options = {}) {
      const db = await openDatabase({ url, dataDir, pool: 5, driver, log: quiet, strict: true, ...options });
      const close = db.close;
      db.close = async () => {
        if (open.delete(db)) await close();
      };
      open.add(db);
      return db;
    },
    async reset() {
      await closeAll();
      if (url === null) {
        await rm(dataDir, { recursive: true, force: true });
        await mkdir(dataDir);
      } else {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query('drop schema public cascade; create schema public');
        await client.end();
      }
    },
    async drop() {
      await closeAll();
      await rm(dataDir, { recursive: true, force: true });
      await drop();
    },
  };
}

export interface DatabaseKind {
  dialect: Dialect;
  /** The dialect, and the driver where it is not the usual one. */
  name: string;
  create(): Promise<TestDatabase>;
}

export function databases(): DatabaseKind[] {
  return testDatabases().map((dialect) => ({ dialect, name: dialect, create: () => createDatabase(dialect, testDriver()) }));
}

/** SQLite once for each driver of this Node, and Postgres: for tests of what the drivers must do alike. */
export function databasesOfDrivers(): DatabaseKind[] {
  const [usual] = sqliteDrivers();
  const others = sqliteDrivers().filter((driver) => driver !== usual);
  return [...databases(), ...others.map((driver): DatabaseKind => ({ dialect: 'sqlite', name: `sqlite by the driver ${driver}`, create: () => createDatabase('sqlite', driver) }))];
}

/** Both drivers of SQLite, or the one that `CIVIC_TEST_SQLITE_DRIVER` names. */
export function sqliteDrivers(): DriverName[] {
  if (process.env.CIVIC_TEST_SQLITE_DRIVER) return [testDriver()];
  if (hasNodeSqlite()) return ['sqlite3', 'node'];
  process.stderr.write(`skipped on node:sqlite: Node ${process.versions.node} has none with full-text search (22.16 and 24 have)\n`);
  return ['sqlite3'];
}

export async function driverOf(name: DriverName): Promise<SqliteDriver> {
  const { driver } = await chooseDriver(name);
  return driver;
}

/** Writes migrations given as the body of `up(schema)` and answers their set. */
export async function writeMigrations(folder: string, plugin: string, files: Record<string, string>): Promise<MigrationSet> {
  const place = join(folder, `${plugin}-${randomBytes(4).toString('hex')}`);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'package.json'), '{ "type": "module" }');
  for (const [name, body] of Object.entries(files)) await writeFile(join(place, `${name}.js`), `export async function up(schema) { ${body} }\n`);
  return { plugin, folder: place };
}

/** Opens and migrates, with one plugin `notes` whose first migration has this body. */
export async function openWith(database: TestDatabase, body: string): Promise<OpenDatabase> {
  const db = await database.open();
  await migrate(db, [await writeMigrations(database.dataDir, 'notes', { '001_first': body })]);
  return db;
}
