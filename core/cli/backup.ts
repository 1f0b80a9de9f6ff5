import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { backupFolder } from '../boot.ts';
import { showConfig } from '../config/report.ts';
import type { CoreConfig } from '../config/types.ts';
import { createBackup } from '../database/backup.ts';
import { backupName } from '../database/backups.ts';
import type { OpenDatabase } from '../database/connect.ts';
import type { Manifest } from '../database/manifest.ts';
import type { Prepared } from '../prepare.ts';
import { shellWord, type Command, type CommandCall, type Terminal } from './command.ts';
import { compositionOf, preparedOrFail, restoreCommand, settingsOf, withDatabase } from './settings.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'Write everything into one folder, also while the server runs',
  arguments: '[folder]',
  examples: ['bin/civic backup', 'bin/civic backup /mnt/usb/civic-2026-01-31'],
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const prepared = await preparedOrFail(settingsOf(options), terminal);
    const composition = await compositionOf(prepared);
    await withDatabase(composition, { writes: false, schema: 'any' }, async () => {
      const { path, manifest } = await backUp(composition.db, prepared, terminal, { path: positionals[0] });
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
      terminal.print({ path, tables: manifest.tables.length, rows }, () => [
        `Backed up ${rows.toLocaleString('en-US')} rows of ${manifest.tables.length} tables to ${path}, and read them back.`,
        `To restore it into a new data folder: ${restoreElsewhere(prepared.config, options, path)}`,
      ].join('\n'));
    });
  },
};

/** The command that restores a backup beside this instance: a database that has tables is never overwritten. */
function restoreElsewhere({ data_dir, database }: CoreConfig, options: CommandCall['options'], backup: string): string {
  const folder = unusedFolder(`${resolve(data_dir)}-restored`);
  const url = database.url === null ? [] : [`CIVIC_DATABASE_URL=${shellWord(`sqlite:${join(folder, 'civic.db')}`)}`];
  return [...url, restoreCommand({ ...options, data: folder })(backup)].join(' ');
}

function unusedFolder(folder: string, number = 1): string {
  const path = number === 1 ? folder : `${folder}-${number}`;
  return existsSync(path) ? unusedFolder(folder, number + 1) : path;
}

/** Backs up to `path`, or to a new folder among the backups, named by the time and the reason. */
export async function backUp(db: OpenDatabase, prepared: Prepared, terminal: Terminal, options: { path?: string; reason?: string } = {}): Promise<{ path: string; manifest: Manifest }> {
  const { config, origins, schema } = prepared;
  const path = resolve(options.path ?? join(backupFolder(config), backupName(options.reason)));
  const manifest = await createBackup(db, path, {
    config: showConfig(config, origins, schema, { origin: false, color: false }),
    signal: terminal.signal,
    onProgress: (done, total) => { terminal.progress('Backing up', done, total); },
  });
  return { path, manifest };
}

/** Answers how to throw it away: a server that is started again and again would else fill the disk with copies of one state. */
export async function backUpBeforeUpgrade(db: OpenDatabase, prepared: Prepared, terminal: Terminal): Promise<() => Promise<void>> {
  const { path } = await backUp(db, prepared, terminal, { reason: 'before-upgrade' });
  return () => rm(path, { recursive: true, force: true });
}
