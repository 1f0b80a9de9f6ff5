import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { MigrationSet } from '../database/migrate.ts';
import { isPartOf, keyOf, makeOnce } from './making.ts';
import { copyOf, databaseUrl, onServer } from './postgres.ts';

// Tests of the same plugins need the same schema and derived tables. A test run, whose folder is `CIVIC_TEST_RUN`, creates them
// once for each database and copies them; a file that is run by itself creates its own.

/** Migrates the database at `url`, or the SQLite file in `dataDir`, and fills its derived tables. */
export type Prepare = (url: string | null, dataDir: string) => Promise<void>;

/** Copies a database with the schema of these migrations to `dataDir`. Does nothing outside a test run. */
export async function copySqliteTemplate(sets: MigrationSet[], dataDir: string, prepare: Prepare): Promise<void> {
  const run = process.env.CIVIC_TEST_RUN;
  if (!run) return;
  const template = join(run, `${keyOf(sets)}.db`);
  if (!existsSync(template)) {
    await makeOnce(run, sets, async () => {
      if (existsSync(template)) return;
      const making = mkdtempSync(join(run, 'making-'));
      const base = baseOf(run, 'sqlite', sets);
      if (base) copyFileSync(join(run, `${base}.db`), join(making, 'civic.db'));
      await prepare(null, making);
      renameSync(join(making, 'civic.db'), template);
      rmSync(making, { recursive: true });
      recordTemplate(run, 'sqlite', sets);
    });
  }
  mkdirSync(dataDir, { recursive: true });
  copyFileSync(template, join(dataDir, 'civic.db'));
}

/** Returns the name of a template database with the schema of these migrations. Null outside a test run. */
export async function postgresTemplate(adminUrl: string, sets: MigrationSet[], prepare: Prepare): Promise<string | null> {
  const run = process.env.CIVIC_TEST_RUN;
  if (!run) return null;
  const name = `${templatePrefix(run)}${keyOf(sets)}`;
  await onServer(adminUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return;
    const base = baseOf(run, 'postgres', sets);
    await client.query(`create database ${name}${base ? await copyOf(client, `${templatePrefix(run)}${base}`) : ''}`);
    const making = mkdtempSync(join(run, 'making-'));
    await prepare(databaseUrl(adminUrl, name), making);
    rmSync(making, { recursive: true });
    recordTemplate(run, 'postgres', sets);
  });
  return name;
}

export async function dropPostgresTemplates(adminUrl: string, run: string): Promise<void> {
  await onServer(adminUrl, async (client) => {
    const { rows } = await client.query('select datname from pg_database where starts_with(datname, $1)', [templatePrefix(run)]);
    for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`);
  });
}

/** Returns the key of the template that has most of these migrations and no others, so that only the rest has to run. */
function baseOf(run: string, dialect: string, sets: MigrationSet[]): string | null {
  const finished = readdirSync(run).filter((name) => name.endsWith(`.${dialect}.json`)).map((name) => JSON.parse(readFileSync(join(run, name), 'utf8')) as MigrationSet[]);
  const bases = finished.filter((some) => isPartOf(some, sets));
  const [largest] = bases.toSorted((a, b) => b.length - a.length);
  return largest ? keyOf(largest) : null;
}

function recordTemplate(run: string, dialect: string, sets: MigrationSet[]): void {
  const file = join(run, `${keyOf(sets)}.${dialect}.json`);
  // Renamed when complete, so that no other process reads a part of it.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(sets));
  renameSync(`${file}.${process.pid}`, file);
}

function templatePrefix(run: string): string {
  return `civic_template_${createHash('sha256').update(basename(run)).digest('hex').slice(0, 8)}_`;
}

