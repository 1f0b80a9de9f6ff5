import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, Misuse, type Command, type CommandCall, type Dialog, type Terminal } from 'civic';
import type { ShownRun } from 'civic/discovery';
import type { Scout } from './context.ts';
import { explained, PERSON } from './person.ts';
import { columns, shortTime } from './words.ts';

const POLL_MS = 250;
const MOST_RUNS = 100;
const PHASES: Record<string, string> = { find: 'Finding pages', read: 'Reading pages', match: 'Comparing candidates' };

/** `run` reads pages in this process until the run has ended. All it knows is in the database, so that it can be interrupted. */
export function runCommand(scout: Scout): Command {
  const { civic, research } = scout;
  return {
    name: 'run',
    summary: 'Find people and groups of a place on public pages',
    options: [
      { name: 'location', value: 'place', summary: 'The place, such as "Kansas City, MO"' },
      { name: 'issue', value: 'slug', multiple: true, summary: 'An issue area, such as housing_affordability; can be repeated' },
      { name: 'seed', value: 'url', multiple: true, summary: 'A page to begin with; can be repeated' },
      { name: 'depth', value: 'depth', summary: 'standard (60 pages) or deep (300 pages); default: standard' },
      { name: 'resume', summary: 'Go on with the latest run that was interrupted, or with the one of --run' },
      { name: 'run', value: 'id', summary: 'The run to go on with' },
    ],
    examples: ['bin/scout run --location "Kansas City, MO" --issue housing_affordability --seed https://tenants.example/about', 'bin/scout run --resume'],
    needs: 'server',
    writes: true,
    async run({ terminal, dialog, options }) {
      const run = options.resume || options.run ? await resumed(scout, options) : await started(scout, options, dialog!);
      terminal.err(`Run ${run.id}: ${run.location}`);
      const ended = await untilEnded(run.id, terminal);
      if (terminal.signal.aborted) throw new Failure(`Stopped. ${ended.progress.done} of ${ended.progress.total} pages are read: bin/scout run --resume goes on without reading them again.`);
      terminal.print(ended, () => summaryOf(ended));
      if (ended.status === 'failed') throw new Failure(ended.error!.detail);
    },
  };

  async function untilEnded(id: string, terminal: Terminal): Promise<ShownRun> {
    for (;;) {
      const run = await research.run(civic.db.read, PERSON, id);
      if ((run.status !== 'pending' && run.status !== 'running') || terminal.signal.aborted) return run;
      const { phase, done, total } = run.progress;
      // A bar that is full ends its line, and further pages may be found.
      if (done < total) terminal.progress(`${PHASES[phase ?? 'find'] ?? phase} (${run.counts.candidates} candidates)`, done, total);
      await sleep(POLL_MS, undefined, { signal: terminal.signal }).catch(() => undefined);
    }
  }
}

async function started({ civic, directory, research }: Scout, options: CommandCall['options'], dialog: Dialog): Promise<ShownRun> {
  const location = (options.location as string | undefined) ?? await dialog.text({ text: 'Which place?', instead: '--location <place>' });
  const issues = (options.issue as string[] | undefined) ?? [await dialog.choice({ text: 'Which issue area?', instead: '--issue <slug>', choices: directory.issueAreas().map(({ slug, name }) => ({ value: slug, label: name })) })];
  const unknown = issues.find((slug) => directory.issueName(slug) === null);
  if (unknown !== undefined) throw new Misuse(`"${unknown}" is no issue area. Those that exist: ${directory.issueAreas().map(({ slug }) => slug).join(', ')}`);
  const depth = options.depth as 'standard' | 'deep' | undefined;
  if (depth !== undefined && depth !== 'standard' && depth !== 'deep') throw new Misuse(`--depth is standard or deep, not "${depth as string}"`);
  return explained(() => civic.db.write((tx) => research.start(tx, PERSON, { location, issue_areas: issues, ...(depth && { depth }), seeds: (options.seed as string[] | undefined) ?? [] })));
}

async function resumed({ civic, research }: Scout, options: CommandCall['options']): Promise<ShownRun> {
  const id = options.run as string | undefined ?? (await research.runs(civic.db.read, PERSON, MOST_RUNS)).find(({ status }) => status === 'pending' || status === 'running')?.id;
  if (id === undefined) throw new Failure('No run was interrupted: bin/scout runs lists all.');
  return explained(() => civic.db.write((tx) => research.resume(tx, PERSON, id)));
}

function summaryOf({ id, status, counts }: ShownRun): string {
  return `${status === 'completed' ? 'Completed' : 'Failed'}. Pages read: ${counts.sources_fetched}, skipped: ${counts.sources_skipped}. Candidates: ${counts.candidates}.\nbin/scout review --run ${id} shows them one by one.`;
}

export function runsCommand({ civic, research }: Scout): Command {
  return {
    name: 'runs',
    summary: 'List the runs, the latest first',
    needs: 'database',
    async run({ terminal }) {
      const runs = await research.runs(civic.db.read, PERSON, MOST_RUNS);
      terminal.print(runs, () => (runs.length === 0 ? 'No runs yet: bin/scout run starts one.' : columns(runs.map(({ id, status, created_at, location, counts }) => [id, status, shortTime(created_at), location, `${counts.candidates} candidates, ${counts.actors_proposed} wait`]))));
    },
  };
}

export function pagesCommand(scout: Scout): Command {
  const { civic, research } = scout;
  return {
    name: 'pages',
    summary: 'List the pages of a run, with what became of each',
    options: [RUN_OPTION],
    needs: 'database',
    async run({ terminal, options }) {
      const run = await runOf(scout, options);
      const pages = await research.pages(civic.db.read, PERSON, run.id);
      terminal.print(pages, () => columns(pages.map(({ url, state, reason, found }) => [state === 'skipped' ? `skipped (${reason})` : state, String(found), url])) || 'The run has no pages.');
    },
  };
}

export const RUN_OPTION = { name: 'run', value: 'id', summary: 'The run (default: the latest)' };

/** Returns the run that an option names, or the latest. */
export async function runOf({ civic, research }: Scout, { run }: CommandCall['options']): Promise<ShownRun> {
  if (run !== undefined) return explained(() => research.run(civic.db.read, PERSON, run as string));
  const [latest] = await research.runs(civic.db.read, PERSON, 1);
  if (!latest) throw new Failure('No runs yet: bin/scout run starts one.');
  return latest;
}
