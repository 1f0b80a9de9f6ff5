import { Failure, Misuse, type Civic, type Command, type CommandCall } from 'civic';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Ledger } from '../ledger/service.ts';
import type { ActorType } from '../types.ts';
import { exportLines } from './export.ts';
import { SAVE_FIRST } from './file.ts';
import type { Format } from './format.ts';
import { FORMATS, formatByName } from './formats.ts';
import { countsOf, reportOf, type Finding, type Outcome } from './import.ts';
import { piecesOf } from './routes.ts';
import { NO_SOURCE } from './row.ts';
import type { Transfer } from './service.ts';
import { countActors, type ImportRow } from './store.ts';

export interface TransferCommands {
  civic: Pick<Civic, 'instance' | 'url'> & { readonly db: Civic['db'] };
  ledger: Ledger;
  transfer: Transfer;
}

const SHOWN = 20;
/** Of the rows that a dry run lists with --json, which is one document in memory. */
const MOST_ROWS = 10_000;

export function transferCommands(context: TransferCommands): Command[] {
  return [
    {
      name: 'import',
      summary: `Import a file of actors: ${names((format) => format.reads)}`,
      arguments: '<format> <file>',
      options: [
        { name: 'dry-run', summary: 'List what would happen to each row, on a copy of the database, and change nothing' },
        { name: 'source', value: 'url', summary: 'Where the file is published; the source of rows without one' },
        { name: 'timezone', value: 'zone', summary: 'Of times without a zone, as America/Chicago' },
        { name: 'no-join', summary: 'Keep new actors apart from those that are surely the same' },
        { name: 'rejects', value: 'file', summary: 'Where rejected rows go with the reason (default: beside the file, as <file>.rejects.ndjson)' },
      ],
      examples: ['bin/civic import openstates people/data/mo --dry-run', 'bin/civic import irs eo_mo.csv', 'bin/civic import meetings chi.json --timezone America/Chicago'],
      needs: 'server',
      writes: true,
      run: (call) => runImport(context, call),
    },
    {
      name: 'export',
      summary: `Write all public actors, with claims and sources: ${names((format) => format.writes)}`,
      options: [
        { name: 'format', value: 'name', summary: 'ndjson when left out' },
        { name: 'out', value: 'file', summary: 'Where to write; else to standard output' },
      ],
      examples: ['bin/civic export --out civic.ndjson', 'bin/civic export --format csv --out civic.csv'],
      needs: 'database',
      run: (call) => runExport(context, call),
    },
  ];
}

function names(has: (format: Format) => unknown): string {
  return FORMATS.filter(has).map(({ name }) => name).join(', ');
}

async function runImport({ transfer }: TransferCommands, { terminal, positionals, options, cwd }: CommandCall): Promise<void> {
  const [name, given] = positionals as [string, string];
  const format = formatByName(name);
  if (!format?.reads) throw new Misuse(`"${name}" is no format that can be read: there are ${names((each) => each.reads)}`);
  if (given === '-') throw new Failure(`Standard input cannot be imported, since an import may have to go on later. ${SAVE_FIRST}`);
  const path = resolve(cwd, given);
  const isDry = options['dry-run'] === true;
  const rejectsPath = options.rejects === undefined ? `${path}.rejects.ndjson` : resolve(cwd, options.rejects as string);
  const rows: Outcome[] = [];
  let omitted = 0;
  function listRow(outcome: Outcome): void {
    if (!terminal.json) terminal.out(outcomeLine(outcome));
    else if (rows.length < MOST_ROWS) rows.push(outcome);
    else omitted++;
  }
  const { row, file, resumedAt } = await transfer.importFile(path, {
    format, source: urlOption(options.source), timezone: (options.timezone as string | undefined) ?? null, visibility: 'public', account_id: null, workspace_id: null, may_change_public: true,
    joins: options['no-join'] === true ? false : null,
  }, {
    isDry,
    rejectsPath,
    signal: terminal.signal,
    onProgress: (done, total) => { terminal.progress(`${isDry ? 'Checking' : 'Importing'} ${basename(path)} (kB)`, done < total ? Math.floor(done / 1024) : Math.ceil(total / 1024), Math.ceil(total / 1024)); },
    ...(isDry && { onRow: listRow }),
  }).catch((error: Error) => {
    if (!terminal.signal.aborted) throw error;
    throw new Failure(isDry ? 'Stopped. This was a dry run: nothing was changed.' : 'Stopped. What was imported stays; the same command again goes on from there.');
  });
  const report = reportOf(row.report);
  const rejects = row.rejected > 0 && !isDry ? row.rejects_path : null;
  const listed = isDry ? { rows, rows_omitted: omitted } : {};
  terminal.print({ format: name, path, dry_run: isDry, resumed_at: resumedAt, counts: countsOf(row), noted: row.noted, faults: report.faults, notes: report.notes, joined: report.joined, file_notes: file.notes, rejects, ...listed }, () => [
    ...(resumedAt > 0 ? [`Went on after row ${resumedAt.toLocaleString('en-US')}, where an earlier import had stopped.`] : []),
    summaryOf(row, isDry),
    ...file.notes,
    ...findings('rejected', row.rejected, report.faults),
    ...(rejects ? [`  All of them, with the reason: ${rejects}`] : []),
    ...(report.faults.some(({ detail }) => detail === NO_SOURCE) ? ['  Rows without a source: say where the file is published with --source <url>, and they stand on that.'] : []),
    ...findings('imported without some of what they say', row.noted, report.notes),
    ...findings('joined with an actor that was there', row.joined, report.joined.map(({ id, name: actor, into, ...where }) => ({ ...where, detail: `${actor} (${id}) joined ${into}` })), report.joined.length),
    ...(row.joined > 0 && !isDry ? ['  POST /api/entities/{id}/split separates them again.'] : []),
  ].join('\n'));
}

function whereIn({ row, file }: Pick<Finding, 'row' | 'file'>): string {
  return file === undefined ? `row ${row}` : `${file}, row ${row}`;
}

function outcomeLine(outcome: Outcome): string {
  const { action, id, name, joined_into: into, detail } = outcome;
  if (action === 'rejected') return `${whereIn(outcome)}: rejected: ${detail}`;
  return `${whereIn(outcome)}: ${action} ${name === null ? 'judgement' : name} (${id})${into === undefined ? '' : `, joined with ${into}`}`;
}

function urlOption(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'string' || !/^https?:\/\/[^\s/]+/.test(value)) throw new Misuse(`--source must be a web address, as https://example.org/data.csv, but is "${String(value)}"`);
  return value;
}

function summaryOf(row: ImportRow, isDry: boolean): string {
  const counts = countsOf(row);
  const words = (['created', 'updated', 'unchanged', 'rejected'] as const).map((key) => `${counts[key].toLocaleString('en-US')} ${key}`).join(', ');
  return [
    `${counted(counts.read, 'row')} read: ${words}.${isDry ? ' This was a dry run: nothing was changed.' : ''}`,
    ...(counts.updated > 0 ? ['  A row is one mention of an actor in the file; an actor that is mentioned again, also by this import, is updated.'] : []),
    ...(counts.joined > 0 ? [`  ${counts.joined.toLocaleString('en-US')} of the created ${counts.joined === 1 ? 'is' : 'are'} surely the same as an actor that was there and joined it: a part of that actor, not ${counts.joined === 1 ? 'a separate one' : 'separate ones'}.`] : []),
  ].join('\n');
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function findings(what: string, total: number, found: Finding[], most = SHOWN): string[] {
  if (total === 0) return [];
  const shown = found.slice(0, most).map((finding) => `  ${whereIn(finding)}: ${finding.detail}`);
  return [`Rows ${what} (${total.toLocaleString('en-US')}):`, ...shown, ...(total > shown.length && found.length >= shown.length ? ['  …'] : [])];
}

async function runExport({ civic, ledger }: TransferCommands, { terminal, options, cwd }: CommandCall): Promise<void> {
  const name = (options.format as string | undefined) ?? 'ndjson';
  const format = formatByName(name);
  if (!format?.writes) throw new Misuse(`"${name}" is no format that can be written: there are ${names((each) => each.writes)}`);
  if (options.out === undefined) {
    for await (const line of exportLines({ civic, ledger, format, workspaceId: null })) {
      if (terminal.signal.aborted) throw new Failure('Stopped: this is not all of the export');
      terminal.out(line);
    }
    return;
  }
  const path = resolve(cwd, options.out as string);
  if (!existsSync(dirname(path))) throw new Failure(`There is no folder ${dirname(path)}`);
  const total = await countActors(civic.db.read);
  let read = 0;
  let written: Partial<Record<ActorType, number>> = {};
  const lines = exportLines({
    civic, ledger, format, workspaceId: null, signal: terminal.signal,
    onActors: (count, types) => {
      read = count;
      written = types;
      if (count < total) terminal.progress('Exporting', count, total);
    },
  });
  try {
    await pipeline(Readable.from(piecesOf(lines)), createWriteStream(`${path}.part`));
    await rename(`${path}.part`, path);
  } catch (error) {
    await rm(`${path}.part`, { force: true });
    throw terminal.signal.aborted ? new Failure('Stopped; nothing was written') : new Failure(`${path} could not be written: ${(error as Error).message}`);
  }
  const actors = Object.values(written).reduce((sum, count) => sum + count, 0);
  const leftOut = read - actors;
  const holds = (format.holds ?? []).map((type) => `${type}s`).join(', ');
  terminal.print({ format: name, path, actors, by_type: written, left_out: leftOut }, () => [
    `Wrote ${actors.toLocaleString('en-US')} ${format.holds?.length === 1 ? `${format.holds[0]}s` : 'actors'} to ${path}`,
    ...(leftOut > 0 ? [`${counted(leftOut, 'actor')} of other types ${leftOut === 1 ? 'is' : 'are'} not in it: the format holds ${holds} only.`] : []),
  ].join('\n'));
}
