import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { emptyDatabase, testDatabases } from '../../testing/database.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from '../connect.ts';
import { migrate, type MigrationSet } from '../migrate.ts';
import type { Dialect } from '../types.ts';

export const quiet = pino({ level: 'silent' });

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

async function createDatabase(dialect: Dialect): Promise<TestDatabase> {
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
      const db = await openDatabase({ url, dataDir, pool: 5, log: quiet, strict: true, ...options });
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

export function databases(): { dialect: Dialect; create: () => Promise<TestDatabase> }[] {
  return testDatabases().map((dialect) => ({ dialect, create: () => createDatabase(dialect) }));
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
