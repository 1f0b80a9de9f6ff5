import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest, tableFile, type Manifest } from './manifest.ts';

/** A whole backup in the folder of backups. */
export interface Backup {
  /** The name of its folder. */
  name: string;
  created_at: string;
  /** The version of civic that created it. */
  version: string;
  tables: number;
  rows: number;
  /** The size of its files. */
  bytes: number;
}

const PARTIAL = '.partial';
const NAME = /^[0-9A-Za-z][\w.-]{0,200}$/;

/** Returns the name of a new backup: the time, and what it is for. */
export function backupName(reason?: string, time = new Date()): string {
  const moment = time.toISOString().replace(/[:.]/g, '-').slice(0, 23);
  return reason ? `${moment}-${reason}` : moment;
}

/** Returns the whole backups in a folder, the newest first. What was interrupted, or is no backup, is left out. */
export async function listBackups(folder: string): Promise<Backup[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.map((name) => backupNamed(folder, name)));
  return found.filter((backup) => backup !== null).toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

/** Returns a whole backup by the name of its folder; null when there is none of that name. */
export async function backupNamed(folder: string, name: string): Promise<Backup | null> {
  if (!NAME.test(name) || name.endsWith(PARTIAL)) return null;
  try {
    const manifest = await readManifest(join(folder, name));
    const { created_at, version, tables } = manifest;
    const sizes = await Promise.all(filesOf(manifest).map((file) => sizeOf(join(folder, name, file))));
    return { name, created_at, version, tables: tables.length, rows: sum(tables.map(({ rows }) => rows)), bytes: sum(sizes) };
  } catch {
    return null;
  }
}

/** Returns the files of a backup, relative to its folder. */
export function filesOf({ tables }: Manifest): string[] {
  return ['manifest.json', 'config.yaml', ...tables.filter(({ derived }) => !derived).map(({ name }) => tableFile('', name))];
}

export async function deleteBackup(folder: string, name: string): Promise<void> {
  if (NAME.test(name)) await rm(join(folder, name), { recursive: true, force: true });
}

/** Deletes what interrupted backups of this reason left behind. */
export async function deletePartialBackups(folder: string, reason: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name.endsWith(`-${reason}${PARTIAL}`)) await rm(join(folder, name), { recursive: true, force: true });
}

/** A backup without a configuration has no such file. */
async function sizeOf(file: string): Promise<number> {
  return stat(file).then(({ size }) => size, () => 0);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
