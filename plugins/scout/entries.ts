import { Failure, Misuse, type Command, type CommandCall } from 'civic';
import type { ShownCandidate, ShownRun } from 'civic/discovery';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Scout } from './context.ts';
import { PERSON } from './person.ts';
import { runOf } from './runs.ts';
import { columns, valueWords } from './words.ts';

const MOST_RUNS = 1000;

/** A reviewed actor of a run: what was accepted, with the claims of the candidates that were merged into it. */
export interface Entry {
  /** The id of the actor here, so that it is the same in every sync. */
  id: string;
  run_id: string;
  type: ShownCandidate['type'];
  name: string;
  decided_at: string | null;
  claims: ShownCandidate['claims'];
  sources: ShownCandidate['sources'];
}

/** Returns the entries of a run. */
export async function entriesOf({ civic, research }: Scout, run: ShownRun): Promise<Entry[]> {
  const candidates = [...await research.candidates(civic.db.read, PERSON, run.id, 'accepted'), ...await research.candidates(civic.db.read, PERSON, run.id, 'merged')];
  const entries = new Map<string, Entry>();
  for (const { entity_id, type, name, decided_at, claims, sources } of candidates) {
    const known = entries.get(entity_id!);
    entries.set(entity_id!, known ? { ...known, ...united(known, { claims, sources }) } : { id: entity_id!, run_id: run.id, type, name, decided_at, claims, sources });
  }
  return [...entries.values()];
}

function united(one: Pick<Entry, 'claims' | 'sources'>, other: Pick<Entry, 'claims' | 'sources'>): Pick<Entry, 'claims' | 'sources'> {
  const claims = new Map([...other.claims, ...one.claims].map((claim) => [JSON.stringify([claim.property, claim.value, claim.source_local_id]), claim]));
  const sources = new Map([...one.sources, ...other.sources].map((source) => [source.local_id, source]));
  return { claims: [...claims.values()].toReversed(), sources: [...sources.values()] };
}

/** Returns the runs that an option names: one, or all. */
export async function runsOf(scout: Scout, options: CommandCall['options']): Promise<ShownRun[]> {
  return options.run === undefined ? scout.research.runs(scout.civic.db.read, PERSON, MOST_RUNS) : [await runOf(scout, options)];
}

async function allEntries(scout: Scout, options: CommandCall['options']): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const run of await runsOf(scout, options)) entries.push(...await entriesOf(scout, run));
  return entries;
}

const OF_RUN = { name: 'run', value: 'id', summary: 'Only those of one run' };

export function entriesCommand(scout: Scout): Command {
  return {
    name: 'entries',
    summary: 'List the entries that were accepted',
    options: [OF_RUN],
    needs: 'database',
    async run({ terminal, options }) {
      const entries = await allEntries(scout, options);
      terminal.print(entries, () => columns(entries.map(({ id, type, name, sources }) => [id, type, name, sources[0]?.url ?? ''])) || 'No entries yet: bin/scout review decides about candidates.');
    },
  };
}

export function exportCommand(scout: Scout): Command {
  return {
    name: 'export',
    summary: 'Write the entries as JSON or CSV',
    options: [
      { name: 'format', value: 'format', summary: 'json or csv (default: json)' },
      { name: 'out', value: 'file', summary: 'The file to write (default: standard output)' },
      OF_RUN,
    ],
    examples: ['bin/scout export --format csv --out entries.csv'],
    needs: 'database',
    async run({ terminal, options, cwd }) {
      const format = (options.format as string | undefined) ?? 'json';
      if (format !== 'json' && format !== 'csv') throw new Misuse(`--format is json or csv, not "${format}"`);
      const entries = await allEntries(scout, options);
      const text = format === 'json' ? `${JSON.stringify(entries, null, 2)}\n` : csvOf(entries);
      if (options.out === undefined) return terminal.out(text.trimEnd());
      const file = resolve(cwd, options.out as string);
      await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => { throw new Failure(error.code === 'EEXIST' ? `${file} exists, and was not changed.` : `${file} cannot be written: ${error.message}`); });
      terminal.print({ file, entries: entries.length }, () => `Wrote ${entries.length} entries to ${file}.`);
    },
  };
}

const PROPERTIES = ['description', 'place', 'issue_area', 'website', 'email', 'phone', 'affiliation', 'event_start', 'event_location'];

function csvOf(entries: Entry[]): string {
  const rows = entries.map(({ id, run_id, type, name, claims, sources }) => [
    id, type, name, ...PROPERTIES.map((property) => [...new Set(claims.filter((claim) => claim.property === property).map(({ value }) => valueWords(value)))].join('; ')),
    sources.map(({ url }) => url).join(' '), run_id,
  ]);
  return [['id', 'type', 'name', ...PROPERTIES, 'sources', 'run_id'], ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** A spreadsheet runs a cell that begins with one of these as a formula; an apostrophe in front prevents it. */
const FORMULA = /^'*[=+\-@\t\r]/;

function cell(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
