import { Failure, type Command, type Terminal } from 'civic';
import type { Document, ReaderService } from 'civic/reader';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADAPTERS } from '../adapters/adapters.ts';
import type { Adapter, MeetingRow } from '../adapters/types.ts';
import { labelsIn, labelsOfFolder, type Labels } from './labels.ts';
import { BAR, isYield, scoreFile, YIELD, type FileScore } from './score.ts';

export interface MeetingsReport {
  rule: string;
  /** Which part of which data a share comes from. */
  split: string;
  files: (FileScore & { yields: boolean | null })[];
  /** Files with labelled events, those that yield them, and their share. */
  with_events: number;
  yielding: number;
  share: number;
  totals: Omit<FileScore, 'file' | 'adapter'>;
}

const RULE = `A file yields its events when at least ${YIELD * 100} % of the labelled ones are found with the right start, title, status, and place where the page states one. `
  + 'A start is right when its day and time on the local clock are those of the label. A title or place is right when it has at least half of the label\'s words.';
const TYPES: Record<string, string> = { '.html': 'text/html', '.htm': 'text/html', '.ics': 'text/calendar', '.json': 'application/json', '.xml': 'text/xml', '.pdf': 'application/pdf', '.rss': 'application/rss+xml', '.atom': 'application/atom+xml', '.txt': 'text/plain' };
const DEFAULT_ZONE = 'America/Chicago';

interface Parts {
  document: ReaderService['document'];
  now(): number;
}

export function evalMeetings(parts: Parts): Command {
  return {
    name: 'eval meetings',
    summary: 'Measure how many meetings of labelled pages are found',
    arguments: '[path]',
    options: [{ name: 'time-zone', value: 'zone', summary: `The zone of times without one; ${DEFAULT_ZONE} when neither this nor the labels name it` }],
    examples: ['bin/civic eval meetings', 'bin/civic eval meetings a-folder-of-pages --json'],
    needs: 'nothing',
    async run({ terminal, positionals: [path], options, cwd }) {
      const folder = path === undefined ? rooted('../shared/data/meetings') : resolve(cwd, path);
      if (path === undefined && !existsSync(folder)) throw new Failure('Name a folder of pages with labels: labels.json, page.labels.json beside a page, or labels/page.json');
      const labels = path === undefined ? labelsIn(rooted('plugins/ingest/eval/meetings.json')) : labelsOfFolder(folder);
      const split = path === undefined ? 'All files. The rules were written with these files at hand, so expect less of others.' : 'All files with labels.';
      const report = await reportOn(folder, labels, split, String(options['time-zone'] ?? labels.time_zone ?? DEFAULT_ZONE), parts, terminal);
      terminal.print(report, () => words(report, terminal));
      if (path === undefined && report.share < BAR) throw new Failure(`${report.yielding} of ${report.with_events} files yield their events; ${BAR * 100} % are demanded`);
    },
  };
}

/** The path of a file of the project; the build copies no data. */
function rooted(path: string): string {
  return fileURLToPath(new URL(path, import.meta.resolve('civic/package.json')));
}

async function reportOn(folder: string, labels: Labels, split: string, zone: string, { document, now }: Parts, terminal: Terminal): Promise<MeetingsReport> {
  const files: MeetingsReport['files'] = [];
  for (const [index, labelled] of labels.files.entries()) {
    const { file, labels: expected } = labelled;
    terminal.progress('Reading files', index, labels.files.length);
    const body = readFileSync(join(folder, file));
    const read = await document({ url: `https://example.org/${file.split(/[\\/]/).map(encodeURIComponent).join('/')}`, content_type: TYPES[extname(file)] ?? '', body, window: { start: '2000-01-01', end: '2040-01-01' } });
    const adapter = recognisedBy(read);
    const rows = adapter ? await adapter.rows(read, { now: now(), time_zone: zone, open: async () => null, leaveOut: () => undefined }) : [];
    const score = scoreFile(labelled, adapter?.name ?? null, rows.filter((row): row is MeetingRow => row.kind === 'meeting'), `${read.text}\n${read.body ?? ''}`, zone);
    files.push({ ...score, yields: expected.length === 0 ? null : isYield(score) });
  }
  const withEvents = files.filter(({ yields }) => yields !== null);
  const yielding = withEvents.filter(({ yields }) => yields).length;
  return { rule: RULE, split, files, with_events: withEvents.length, yielding, share: withEvents.length === 0 ? 0 : Math.floor((yielding / withEvents.length) * 10_000) / 10_000, totals: totalsOf(files) };
}

function recognisedBy(document: Document): Adapter | null {
  return ADAPTERS.map((adapter) => ({ adapter, score: adapter.recognises(document) })).filter(({ score }) => score > 0).toSorted((left, right) => right.score - left.score)[0]?.adapter ?? null;
}

function totalsOf(files: FileScore[]): MeetingsReport['totals'] {
  const sum = (name: keyof MeetingsReport['totals']) => files.reduce((total, file) => total + (file[name] ?? 0), 0);
  return { labelled: sum('labelled'), start: sum('start'), title: sum('title'), status: sum('status'), place: sum('place'), placed: sum('placed'), all: sum('all'), rows: sum('rows'), invented: sum('invented'), extra: sum('extra') };
}

function words({ rule, split, files, with_events: withEvents, yielding, share, totals }: MeetingsReport, { style }: Terminal): string {
  const width = Math.max(10, ...files.map(({ file }) => file.length));
  const line = (file: string, adapter: string, score: MeetingsReport['totals'], mark: string) => [file.padEnd(width), adapter.padEnd(15), `${score.all}/${score.labelled}`.padStart(8), ...[score.start, score.title, score.status].map((count) => String(count).padStart(7)),
    `${score.place}/${score.placed}`.padStart(8), ...[score.rows, score.invented, score.extra ?? '-'].map((count) => String(count).padStart(9)), ` ${mark}`].join('');
  return [
    rule,
    split,
    style('bold', ['file'.padEnd(width), 'adapter'.padEnd(15), 'all'.padStart(8), ...['start', 'title', 'status'].map((name) => name.padStart(7)), 'place'.padStart(8), ...['rows', 'invented', 'extra'].map((name) => name.padStart(9))].join('')),
    ...files.map(({ file, adapter, yields, ...score }) => line(file, adapter ?? '', score, yields === null ? 'has no events' : yields ? '' : 'below')),
    line('in all', '', totals, ''),
    `${yielding} of ${withEvents} files with events yield them (${(share * 100).toFixed(2)} %). Invented are rows on a day that neither a label nor the page names; extra are rows without a label, where all events are labelled.`,
  ].join('\n');
}
