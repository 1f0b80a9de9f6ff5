import type { Server } from '@hapi/hapi';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { Failure, shellWord } from './cli/command.ts';
import type { OpenOptions } from './compose.ts';
import type { CoreConfig } from './config/types.ts';
import type { OpenDatabase } from './database/connect.ts';
import { makeDataFolder, type Fault } from './database/folder.ts';
import { closeToOthers } from './database/private.ts';
import { takeWriterLock, type WriterLock } from './database/lock.ts';
import type { Logger } from './log.ts';
import { chooseDriver } from './database/sqlite/choose.ts';
import { call, callAny } from './program.ts';
import { migrate, pendingMigrations, type GoingBack, type MigrationName, type MigrationSet } from './database/migrate.ts';

/** Makes the folder, and on SQLite makes this process the one that writes. */
export async function prepareDataFolder(config: CoreConfig, writes: boolean, log: Logger): Promise<WriterLock | null> {
  await checkDriver(config);
  makeDataFolder(config.data_dir);
  closeToOthers(backupFolder(config));
  if (!writes || isPostgres(config)) return null;
  const { driver } = await chooseDriver(config.database.driver);
  return takeWriterLock(config.data_dir, driver, log);
}

export function isPostgres(config: CoreConfig): boolean {
  return /^postgres(ql)?:/.test(config.database.url ?? '');
}

function sqliteFile(config: CoreConfig): string {
  return resolve(config.database.url?.replace(/^sqlite:/, '') ?? join(config.data_dir, 'civic.db'));
}

/** The SQLite file that is not made yet: opening would make it, and looking must not. */
export function missingFile(config: CoreConfig): string | null {
  return isPostgres(config) || existsSync(sqliteFile(config)) ? null : sqliteFile(config);
}

/** Rejects a missing SQLite file, for commands that find nothing in a new one. */
export function checkDatabaseExists(config: CoreConfig): void {
  const missing = missingFile(config);
  if (missing) throw new Failure(`There is no database at ${missing} yet: ${callAny('serve', 'migrate')} creates it`);
}

/** Runs what is pending, or refuses a schema that is not up to date, as asked. */
export async function bringUpToDate(db: OpenDatabase, config: CoreConfig, sets: MigrationSet[], open: OpenOptions): Promise<MigrationName[]> {
  if (open.schema === 'any') return [];
  if (open.schema === 'migrate') return migrate(db, sets, { beforeFirst: async () => open.beforeMigrating?.(db), goingBack: goingBack(config, open) });
  const pending = await pendingMigrations(db, sets);
  if (pending.length > 0) throw new Failure(`The database is not up to date (${pending.length} migrations are missing): run ${call('migrate')}`);
  return [];
}

function goingBack(config: CoreConfig, { restoreCommand }: OpenOptions): GoingBack {
  const file = sqliteFile(config);
  const aside = join(dirname(file), 'newer');
  return {
    backups: backupFolder(config),
    asideCommand: isPostgres(config) ? null : `mkdir ${shellWord(aside)} && mv ${shellWord(file)}* ${shellWord(aside)}`,
    restoreCommand: restoreCommand ?? ((folder) => `${call('restore')} ${shellWord(folder)}`),
  };
}

/** Where backups go unless told otherwise. */
export function backupFolder(config: CoreConfig): string {
  return config.backup.folder ?? join(config.data_dir, 'backups');
}

/** Rejects a port that cannot be opened, before anything is created for a server that could not start. */
export async function checkPort(config: CoreConfig): Promise<void> {
  const fault = await portFault(config);
  if (fault) throw new Failure(`${fault.detail}: ${fault.fix}`);
}

/** Rejects a SQLite driver that cannot be loaded, before anything is created for it. */
export async function checkDriver(config: CoreConfig): Promise<void> {
  if (!isPostgres(config)) await chooseDriver(config.database.driver);
}

/** Returns why the port cannot be opened; null when it can. */
export async function portFault({ http }: CoreConfig): Promise<Fault | null> {
  const probe = createServer();
  try {
    probe.listen(http.port, http.host);
    await once(probe, 'listening');
  } catch (error) {
    return listenFault(error as NodeJS.ErrnoException, http);
  }
  probe.close();
  await once(probe, 'close');
  return null;
}

/** Opens the port, or reports why it cannot be opened. */
export async function listen(server: Server, { http }: CoreConfig): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    const { detail, fix } = listenFault(error as NodeJS.ErrnoException, http);
    throw new Failure(`${detail}: ${fix}`);
  }
}

function listenFault(error: NodeJS.ErrnoException, { host, port }: CoreConfig['http']): Fault {
  switch (error.code) {
    case 'EADDRINUSE': return { detail: `Port ${port} on ${host} is in use by another program, perhaps another civic server`, fix: 'stop it, or choose another port with --port or http.port' };
    case 'EACCES': return { detail: `This user may not listen on port ${port}`, fix: `choose one above 1023 with --port or http.port, and let a proxy take ${port}` };
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': return { detail: `${host} is not an address of this machine`, fix: 'use 127.0.0.1, or 0.0.0.0 for all of them (--host or http.host)' };
    default: return { detail: `Listening on ${host}:${port} failed`, fix: error.message };
  }
}
