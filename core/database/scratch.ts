import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Knex } from 'knex';
import { Failure } from '../cli/command.ts';
import { driverError } from './errors.ts';
import type { SqliteDriver } from './sqlite/driver.ts';

/** A copy that a process left behind when it was killed is deleted by the next one, after this long. */
const LEFT_BEHIND_MS = 24 * 3600_000;
const NAME = /^(?:scratch-|civic_scratch_)([0-9a-z]+)_[0-9a-f]+(?:\.db(?:-wal|-shm)?)?$/;

function scratchName(): string {
  return `${Date.now().toString(36)}_${randomBytes(6).toString('hex')}`;
}

function isLeftBehind(name: string): boolean {
  const [, time] = NAME.exec(name) ?? [];
  return time !== undefined && Date.now() - Number.parseInt(time, 36) > LEFT_BEHIND_MS;
}

/** Copies a SQLite database beside itself without blocking its writer. Returns the file. */
export async function copySqlite(driver: SqliteDriver, file: string): Promise<string> {
  const folder = dirname(file);
  for (const name of await readdir(folder)) if (isLeftBehind(name)) await rm(join(folder, name), { force: true });
  const copy = join(folder, `scratch-${scratchName()}.db`);
  // VACUUM INTO takes an empty file, which only this user can read.
  await writeFile(copy, '', { mode: 0o600 });
  // The readers of an open database may not write, not even another file.
  const source = await driver.open(file);
  try {
    await source.run('vacuum into ?', [copy]);
  } catch (error) {
    await deleteSqlite(copy);
    throw new Failure(`The database could not be copied to ${copy}: ${driverError(error).message}. The copy needs as much room as the database.`, { cause: error });
  } finally {
    await source.close();
  }
  return copy;
}

export async function deleteSqlite(file: string): Promise<void> {
  const names = await readdir(dirname(file));
  for (const name of names) if (name.startsWith(basename(file))) await rm(join(dirname(file), name), { force: true });
}

/** Copies the tables whose names have this prefix into a schema of their own, as of one moment. Returns the schemas to search. */
export async function copyPostgres(pool: Knex, prefix: string): Promise<string[]> {
  const schema = `civic_scratch_${scratchName()}`;
  const [{ current }] = await pool.raw('select current_schema() as current') as [{ current: string }];
  try {
    await pool.transaction(async (tx) => {
      await dropLeftBehind(tx);
      await tx.raw('create schema ??', [schema]);
      const tables: { name: string }[] = await tx.raw('select table_name as name from information_schema.tables where table_schema = ? and left(table_name, ?) = ?', [current, prefix.length, prefix]);
      for (const { name } of tables) await copyTable(tx, `${current}.${name}`, `${schema}.${name}`);
    }, { isolationLevel: 'repeatable read' });
  } catch (error) {
    const { code, message } = driverError(error);
    if (code !== '42501') throw error;
    throw new Failure(`This needs a copy of the tables in a schema of its own, which this user may not create (${message}): grant create on the database to them`, { cause: error });
  }
  return [schema, current];
}

async function copyTable(tx: Knex.Transaction, from: string, to: string): Promise<void> {
  await tx.raw('create table ?? (like ?? including all)', [to, from]);
  await tx.raw('insert into ?? overriding system value select * from ??', [to, from]);
  const [{ sequence }] = await tx.raw("select (select pg_get_serial_sequence(?, attname) from pg_attribute where attrelid = ?::regclass and attidentity <> '') as sequence", [to, to]) as [{ sequence: string | null }];
  if (sequence) await tx.raw('select setval(?, coalesce(max(key), 0) + 1, false) from ??', [sequence, to]);
}

async function dropLeftBehind(tx: Knex.Transaction): Promise<void> {
  const schemas: { name: string }[] = await tx.raw("select nspname as name from pg_namespace where nspname like 'civic\\_scratch\\_%'");
  for (const { name } of schemas) if (isLeftBehind(name)) await tx.raw('drop schema ?? cascade', [name]);
}

export async function dropPostgres(pool: Knex, schema: string): Promise<void> {
  await pool.raw('drop schema if exists ?? cascade', [schema]);
}
