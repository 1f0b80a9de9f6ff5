import { Failure } from 'civic';
import { parse } from 'csv-parse/sync';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROW_ENDS } from '../transfer/table.ts';
import { ACTOR_TYPES, type ActorType } from '../types.ts';
import type { NamePair } from './synthetic.ts';

const COLUMNS = ['name1', 'name2', 'type', 'is_match'] as const;
type Column = (typeof COLUMNS)[number];
/** Other sets of name pairs have the type in this column, with the schemata of FollowTheMoney. */
const OTHER_TYPE_COLUMN = 'schema';
const YES = new Set(['1', 'true', 't', 'yes', 'y', 'match']);
const NO = new Set(['0', 'false', 'f', 'no', 'n', 'non-match', 'no_match', '']);
const PEOPLE = new Set(['person', 'people', 'per', 'individual', 'legislator', 'official', 'candidate']);

/** Reads pairs of names from a CSV file with the columns `name1,name2,type,is_match` (or `schema` for `type`), or from all such files of a folder. */
export async function namePairs(path: string): Promise<NamePair[]> {
  const files = isFolder(path) ? readdirSync(path).filter((file) => file.endsWith('.csv')).sort().map((file) => join(path, file)) : [path];
  return files.flatMap(pairsOf);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    throw new Failure(`${path} cannot be read: is it there?`);
  }
}

function pairsOf(file: string): NamePair[] {
  const rows = rowsOf(file);
  const [header = [], ...body] = rows;
  const at = positionsOf(header.map((name) => name.trim().toLowerCase()));
  const missing = COLUMNS.filter((column) => at[column] < 0);
  if (missing.length > 0) throw new Failure(`${file} has no column ${missing.join(', ')}: its first line should be ${COLUMNS.join(',')}, or have ${OTHER_TYPE_COLUMN} for type`);
  return body.map((row, index) => {
    const cell = (column: Column) => (row[at[column]] ?? '').trim();
    const said = cell('is_match').toLowerCase();
    if (!YES.has(said) && !NO.has(said)) throw new Failure(`${file}, row ${index + 2}: is_match is "${said}", neither true nor false`);
    return { left: cell('name1'), right: cell('name2'), type: typeOf(cell('type')), isMatch: YES.has(said) };
  });
}

function positionsOf(header: string[]): Record<Column, number> {
  const type = header.includes('type') ? 'type' : OTHER_TYPE_COLUMN;
  return Object.fromEntries(COLUMNS.map((column) => [column, header.indexOf(column === 'type' ? type : column)])) as Record<Column, number>;
}

function rowsOf(file: string): string[][] {
  try {
    return parse(readFileSync(file, 'utf8'), { record_delimiter: ROW_ENDS, bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true });
  } catch (error) {
    throw new Failure(`${file} cannot be read as CSV: ${(error as Error).message}`);
  }
}

/** Whatever is no person has a name like an organization. */
function typeOf(text: string): ActorType {
  const word = text.toLowerCase();
  if (PEOPLE.has(word)) return 'person';
  return ACTOR_TYPES.find((type) => type === word) ?? 'organization';
}
