import { Failure, Misuse, problemOf, type Command, type CommandOption } from 'civic';
import { adapterOf } from '../adapters/adapters.ts';
import type { Ingest } from '../context.ts';
import { opmlOf } from '../lists/opml.ts';
import { CLASSES } from './class.ts';
import type { Notice } from './notices.ts';
import { cadenceOfOperator, sourceChange, SHORTEST_OF_OPERATOR } from './schemas.ts';
import { shownRead, shownRows, type ShownSource } from './shown.ts';
import { meetingTime } from '../signals/words.ts';
import type { Owner, SourceChanges, SourceInput, Sources } from './sources.ts';

export const OPERATOR: Owner = { workspace_id: null, account_id: null, most: Infinity, plan: null };

/** What a source can be given when it is added, and later. */
const SETTINGS: CommandOption[] = [
  { name: 'name', value: 'text', summary: 'What the source is called' },
  { name: 'place', value: 'key', summary: 'The place whose page shows its signals' },
  { name: 'issue', value: 'slug', multiple: true, summary: 'An issue area' },
  { name: 'tag', value: 'word', multiple: true, summary: 'A tag' },
  { name: 'class', value: 'name', summary: `What its signals are: ${CLASSES.join(', ')}; by platform and address when absent` },
  { name: 'every', value: 'seconds', summary: 'How many seconds are between two reads' },
];

const MOST_READS = 100;

const NO_TEST: CommandOption = { name: 'no-test', summary: 'Store the address without reading it first' };

/** `civic source …`: the sources of the operator, whose signals are public. */
export function sourceCommands({ civic, directory, timeZone }: Ingest, sources: Sources): Command[] {
  return [
    {
      name: 'source add',
      summary: 'Watch a public page, calendar or feed; its signals are public',
      arguments: '<url>',
      options: [...SETTINGS, NO_TEST],
      examples: ['bin/civic source add https://example.org/calendar.ics --place st-louis,missouri'],
      needs: 'database',
      writes: true,
      async run({ terminal, positionals: [url], options }) {
        if (!url) throw new Misuse('Name the address to watch');
        const { source, rows } = await sources.create(OPERATOR, inputOf(url, options), { test: !options['no-test'] }).catch(failed);
        const sample = shownRows(rows);
        const zone = await timeZone(civic.db.read, { place_key: source.place });
        terminal.print({ ...source, sample }, () => [`Watching ${source.name}${source.platform ? ` (${adapterOf(source.platform).label})` : ''}, id ${source.id}`, ...lines(sample, zone)].join('\n'));
      },
    },
    {
      name: 'source list',
      summary: 'List the watched sources with their health',
      options: [{ name: 'opml', summary: 'Write them as OPML, for a feed reader or another instance' }],
      examples: ['bin/civic source list --opml > sources.opml'],
      needs: 'database',
      async run({ terminal, options }) {
        const found = await sources.all(civic.db.read, { workspace_id: null });
        if (options.opml) return terminal.out(opmlOf(`Watched sources: ${civic.instance.name}`, found).trimEnd());
        terminal.print(found, () => found.map(summary).join('\n') || 'No source is watched yet: bin/civic source add <url>');
      },
    },
    {
      name: 'source test',
      summary: 'Read an address or a watched source once, and show what is found',
      arguments: '<url or id>',
      options: [{ name: 'place', value: 'key', summary: 'The place whose time zone is that of times without one' }],
      needs: 'database',
      writes: true,
      async run({ terminal, positionals: [target], options }) {
        if (!target) throw new Misuse('Name the address, or the id of a watched source');
        const known = target.includes('/') ? null : await sources.found(civic.db.read, OPERATOR, target).catch(failed);
        const place = known?.place_key ?? (options.place as string | undefined);
        const { url, adapter, rows, fault } = await sources.test({ url: known?.url ?? target, ...(place && { place }), ...(known?.platform && { platform: known.platform }) }).catch(failed);
        if (fault && !terminal.json) throw new Failure(fault.detail);
        const shown = shownRows(rows);
        const zone = await timeZone(civic.db.read, { place_key: place === undefined ? null : await directory.placeKey(civic.db.read, place) });
        const result = { url, platform: adapter?.name ?? null, rows: shown, total: rows.length, reason: fault?.code ?? null, detail: fault?.detail ?? null };
        terminal.print(result, () => [`${adapter!.label}: ${rows.length === 1 ? 'one row' : `${rows.length} rows`} at ${url}`, ...lines(shown, zone)].join('\n'));
      },
    },
    {
      name: 'source history',
      summary: 'List the last reads of a watched source: what each found, or why it failed',
      arguments: '<id>',
      options: [{ name: 'limit', value: 'number', summary: `How many reads, ${MOST_READS} at most; 20 when absent` }],
      needs: 'database',
      existing: true,
      async run({ terminal, positionals: [id], options }) {
        if (!id) throw new Misuse('Name the id of the source');
        const limit = Number(options.limit ?? 20);
        if (!(Number.isInteger(limit) && limit >= 1 && limit <= MOST_READS)) throw new Misuse(`--limit must be a whole number from 1 to ${MOST_READS}`);
        const source = await sources.found(civic.db.read, OPERATOR, id).catch(failed);
        const { rows } = await sources.history(civic.db.read, source, { before: null, limit });
        const reads = rows.map(shownRead);
        terminal.print(reads, () => reads.map(readLine).join('\n') || 'It was not read yet');
      },
    },
    {
      name: 'source edit',
      summary: 'Change the address or the settings of a watched source; another address is read at once',
      arguments: '<id>',
      options: [{ name: 'url', value: 'address', summary: 'The address to watch from now on' }, ...SETTINGS, NO_TEST],
      examples: ['bin/civic source edit 01a1e828-3e23-7000-8000-000000000001 --url https://example.org/events.ics'],
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, positionals: [id], options }) {
        if (!id) throw new Misuse('Name the id of the source');
        const changes = settingsOf(options);
        if (Object.keys(changes).length === 0) throw new Misuse('Name what to change, such as --url or --place');
        const { error } = sourceChange.keys({ cadence_seconds: cadenceOfOperator }).validate(changes);
        if (error) throw new Misuse(error.message);
        const source = await sources.change(OPERATOR, id, changes, { test: !options['no-test'] }).catch(failed);
        terminal.print(source, () => `${source.name} is watched at ${source.url}${source.next_read_at ? `, and is read next at ${source.next_read_at}` : ''}`);
      },
    },
    {
      name: 'source delete',
      summary: 'Stop watching a source, and delete its history; its signals stay',
      arguments: '<id>',
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, positionals: [id] }) {
        if (!id) throw new Misuse('Name the id of the source');
        const { name } = await sources.found(civic.db.read, OPERATOR, id).catch(failed);
        await civic.db.write((tx) => sources.remove(tx, OPERATOR, id)).catch(failed);
        terminal.print({ id, deleted: true }, () => `${name} is no longer watched`);
      },
    },
    {
      name: 'source pause',
      summary: 'Pause a watched source, or resume it with --resume',
      arguments: '<id>',
      options: [{ name: 'resume', summary: 'Resume it' }],
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, positionals: [id], options }) {
        if (!id) throw new Misuse('Name the id of the source');
        const source = await civic.db.write((tx) => sources.update(tx, OPERATOR, id, { state: options.resume ? 'active' : 'paused' })).catch(failed);
        terminal.print(source, () => `${source.name} is ${source.state}`);
      },
    },
  ];
}

function inputOf(url: string, options: Options): SourceInput {
  return { cadence_seconds: null, source_class: null, issues: [], tags: [], ...settingsOf(options), url };
}

type Options = Record<string, string | boolean | string[] | undefined>;

/** Returns the settings that the options name. */
function settingsOf({ every: seconds, class: named, issue, tag, name, place, url }: Options): SourceChanges {
  const every = seconds === undefined ? undefined : Number(seconds);
  if (every !== undefined && !(Number.isInteger(every) && every >= SHORTEST_OF_OPERATOR)) throw new Misuse(`--every must be a whole number of seconds, ${SHORTEST_OF_OPERATOR} or more`);
  const sourceClass = CLASSES.find((one) => one === named);
  if (named !== undefined && !sourceClass) throw new Misuse(`--class must be one of ${CLASSES.join(', ')}`);
  return {
    ...(every !== undefined && { cadence_seconds: every }), ...(sourceClass && { source_class: sourceClass }), ...(issue !== undefined && { issues: issue as string[] }), ...(tag !== undefined && { tags: tag as string[] }),
    ...(name !== undefined && { name: String(name) }), ...(place !== undefined && { place: String(place) }), ...(url !== undefined && { url: String(url) }),
  };
}

/** Prints a problem of the API as a failure. */
export function failed(error: unknown): never {
  const problem = problemOf(error);
  throw problem ? new Failure(problem.errors?.map(({ detail }) => detail).join('\n') || (problem.detail ?? problem.title)) : error;
}

const NOTICE_WORDS: Record<Notice, string> = { changes_often: 'It changes at nearly every read: ignore the passage that changes on its page in the console', no_audience: 'It has no place and no issue: only readers of all signals see what changes', rows_left_out: 'It lists more than is read: of a series only the next 100 occurrences are' };

function summary({ id, name, url, state, health, notices, row_count, last_success_at }: ShownSource): string {
  const first = `${id}  ${state === 'paused' ? 'paused' : health.status}  ${row_count === 1 ? 'one row' : `${row_count} rows`}  last read well: ${last_success_at ?? 'never'}  ${name}  ${url}${health.via === 'browser' ? '  read with a browser' : ''}`;
  return [first, ...(health.detail ? [health.detail] : []), ...notices.map((notice) => NOTICE_WORDS[notice])].join('\n  ');
}

function readLine({ at, outcome, detail, rows, added, changed, gone, signals }: ReturnType<typeof shownRead>): string {
  return `${at}  ${outcome}  ${detail ?? `${rows === 1 ? 'one row' : `${rows} rows`}, ${added} added, ${changed} changed, ${gone} gone, ${signals === 1 ? 'one signal' : `${signals} signals`}`}`;
}

/** Returns the rows, with their times in the zone of the place. */
function lines(rows: ReturnType<typeof shownRows>, zone: string): string[] {
  return rows.map(({ date, title, location, status }) => `  ${[date === null ? 'no date' : meetingTime(date, zone), title, location, status === 'cancelled' ? 'cancelled' : null].filter(Boolean).join('  ')}`);
}
