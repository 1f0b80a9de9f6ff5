import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Joi from 'joi';
import { Failure } from '../cli/command.ts';
import type { Digest } from './digest.ts';
import type { RecordedTable } from './tables.ts';
import type { Dialect } from './types.ts';

export const FORMAT = 1;

export interface MigrationName {
  plugin: string;
  name: string;
}

/** A table in a backup; derived ones are described, but hold no rows and have no file. */
export interface BackupTable extends RecordedTable, Digest {}

export interface Manifest {
  format: number;
  /** The version of civic that made it. */
  version: string;
  created_at: string;
  dialect: Dialect;
  /** What was run, by plugin, of plugins on and off. */
  migrations: Record<string, string[]>;
  /** In the order they were made. */
  tables: BackupTable[];
}

const name = Joi.string().pattern(/^[a-z][a-z0-9_]{0,62}$/);
const names = Joi.array().items(name);

const schema = Joi.object<Manifest, true>({
  format: Joi.number().valid(FORMAT).required(),
  version: Joi.string().required(),
  created_at: Joi.string().isoDate().required(),
  dialect: Joi.string().valid('sqlite', 'postgres').required(),
  migrations: Joi.object().pattern(name, Joi.array().items(Joi.string().pattern(/^\d{3}_[a-z0-9_]+$/))).required(),
  tables: Joi.array().items(Joi.object({
    name: name.required(),
    plugin: name.required(),
    derived: Joi.boolean().required(),
    rows: Joi.number().integer().min(0).required(),
    sha256: Joi.string().hex().length(64).required(),
    definition: Joi.object({
      columns: Joi.array().items(Joi.array().ordered(name.required(), Joi.string().pattern(/^(id|uuid|text|int|bigint|real|bool|time|json|blob)\??$/).required())).required(),
      primary: names.required(),
      unique: Joi.array().items(names).required(),
      index: Joi.array().items(names).required(),
      references: Joi.object().pattern(name, Joi.string().pattern(/^[a-z0-9_]+\.[a-z0-9_]+$/)).required(),
      search: Joi.boolean().required(),
    }).required(),
  })).required(),
});

export function manifestMigrations(manifest: Manifest): MigrationName[] {
  return Object.entries(manifest.migrations).flatMap(([plugin, names]) => names.map((each) => ({ plugin, name: each })));
}

export function tableFile(folder: string, table: string): string {
  return join(folder, 'tables', `${table}.ndjson.gz`);
}

export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, 'manifest.json');
  let content: { format?: unknown };
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Failure(`The backup ${folder} is damaged: manifest.json is not JSON.`);
    throw new Failure(existsSync(folder) ? `${folder} is not a backup: it has no manifest.json that can be read.` : `There is nothing at ${folder}.`);
  }
  if (typeof content?.format === 'number' && content.format > FORMAT) {
    throw new Failure(`The backup ${folder} was made by a newer version of civic (format ${content.format}, this version reads ${FORMAT}). Update civic, then restore it.`);
  }
  const { error, value } = schema.validate(content, { convert: false });
  if (error) throw new Failure(`The backup ${folder} is damaged: in manifest.json, ${error.message}.`);
  return value;
}

export interface FoundBackup {
  path: string;
  manifest: Manifest;
}

/** The newest backup in a folder that `fits`; what is not a whole backup is passed over. */
export async function newestBackup(folder: string, fits: (manifest: Manifest) => Promise<boolean>): Promise<FoundBackup | null> {
  let newest: FoundBackup | null = null;
  for (const entry of await readdir(folder).catch(() => [])) {
    if (entry.endsWith('.partial')) continue;
    const path = join(folder, entry);
    const manifest = await readManifest(path).catch(() => null);
    if (!manifest || (newest && manifest.created_at <= newest.manifest.created_at)) continue;
    if (await fits(manifest)) newest = { path, manifest };
  }
  return newest;
}
