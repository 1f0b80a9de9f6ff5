import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { startPostgres, type RunningPostgres } from '../../core/testing/postgres.ts';
import { dropPostgresTemplates } from '../../core/testing/template.ts';
import { ownCpuSeconds } from './cpu.ts';
import { runFile, type FileResult } from './file.ts';
import { keepFilesInMemory } from './memory.ts';
import { endAllWorkers, startWorker, type Worker } from './process.ts';
import { showProgress } from './progress.ts';
import { measureSlowness } from './slowness.ts';

export interface RunOptions {
  /** The folder of the compiled tests. */
  folder: string;
  /** Parts of file names; all files without any. */
  filters?: string[];
  /** Stores the duration of each file, which sets the order of the next run. */
  timesFile?: string;
  jobs?: number;
  /** SQLite only, no browser, no crash tests. */
  sqlite?: boolean;
  /** Like `sqlite`, and without files that export `notQuick`. */
  quick?: boolean;
  /** Runs a few failed files once more, alone. Those that pass then do not fail the run, which names them. */
  again?: boolean;
  /** How long a file may run without a finished test or output, on a machine of the usual speed. */
  stallSeconds?: number;
}

const STALL_SECONDS = 180;
/** With `again`: more failed files than these are no accident, and none of them runs a second time. */
const MOST_AGAIN = 3;
/** Folders that `--sqlite` and `--quick` leave out. */
const SLOW_FOLDERS = ['crash', 'journeys'].map((name) => join('test', name) + sep);
/** The assumed duration of a file without a measurement, in those folders and elsewhere. */
const SLOW_MS = 10_000;
const USUAL_MS = 2000;
const SQLITE_ONLY = 'npm test -- --sqlite and --quick leave it out';

function testFiles(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'));
  return all.map((entry) => join(entry.parentPath, entry.name)).sort().filter((file) => {
    const folders = relative(folder, dirname(file)).split(sep);
    return folders.includes('test') && !folders.includes('node_modules');
  });
}

function isInSlowFolder(name: string): boolean {
  return SLOW_FOLDERS.some((folder) => name.startsWith(folder));
}

function readTimes(file: string | undefined): Record<string, number> {
  try {
    return file ? JSON.parse(readFileSync(file, 'utf8')) : {};
  } catch {
    return {};
  }
}

function writeTimes(file: string | undefined, times: Record<string, number>): void {
  if (!file) return;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(times));
  } catch {
    // Without the times, the next run has another order.
  }
}

/** Returns the environment of the tests, without settings of an instance in this shell. */
function environment(postgres: RunningPostgres | { missing: string }, sqliteOnly: boolean): NodeJS.ProcessEnv {
  const hidden = sqliteOnly ? /^CIVIC_(?!TEST_|UPDATE_)|^CIVIC_TEST_PG_URL$/ : /^CIVIC_(?!TEST_|REQUIRE_|UPDATE_)/;
  const kept = Object.entries(process.env).filter(([name]) => !hidden.test(name));
  const found = 'url' in postgres ? { CIVIC_TEST_PG_URL: postgres.url } : { CIVIC_TEST_PG_MISSING: postgres.missing };
  return { ...Object.fromEntries(kept), ...found, ...(sqliteOnly ? { CIVIC_TEST_BROWSER_MISSING: SQLITE_ONLY } : {}) };
}

/** Whether a file needs a process of its own, such as one that checks what a process loads: it exports `ownProcess`. */
function isAlone(file: string): boolean {
  return /^export const ownProcess = /m.test(readFileSync(file, 'utf8'));
}

/** Returns the reason in the file's `notQuick`; null when the run includes the file. */
function reasonNotQuick(file: string, { quick }: RunOptions): string | null {
  if (!quick) return null;
  return /^export const notQuick = (['"])(.+)\1;/m.exec(readFileSync(file, 'utf8'))?.[2] ?? null;
}

function sum(results: FileResult[], part: 'passed' | 'failed' | 'skipped'): number {
  return results.reduce((total, result) => total + result[part], 0);
}

function summary(results: FileResult[]): string {
  const skipped = sum(results, 'skipped');
  return `${sum(results, 'passed')} passed, ${sum(results, 'failed')} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

function slowest(results: FileResult[], title: string, seconds: (result: FileResult) => number): string {
  const lines = results.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, 10)
    .map((result) => `  ${(result.ms / 1000).toFixed(1).padStart(6)} s ${result.cpuSeconds.toFixed(1).padStart(6)} s CPU  ${result.name}`);
  return `\n${title}:\n${lines.join('\n')}`;
}

async function runAll(files: string[], options: RunOptions, env: NodeJS.ProcessEnv): Promise<FileResult[]> {
  const times = readTimes(options.timesFile);
  const nameOf = (file: string) => relative(options.folder, file).replace(/\.test\.js$/, '');
  const timeOf = (file: string) => times[nameOf(file)] ?? (isInSlowFolder(nameOf(file)) ? SLOW_MS : USUAL_MS);
  // The slowest files first, so that no single one runs alone at the end.
  const waiting = files.toSorted((a, b) => timeOf(b) - timeOf(a));
  // Two more than there are processors: some files mostly wait.
  const jobs = options.jobs ?? (Number(process.env.CIVIC_TEST_JOBS) || Math.min(availableParallelism() + 2, 8));
  // A run inside a test uses the measurement of the outer run.
  const slowness = Number(process.env.CIVIC_TEST_SLOWNESS) || measureSlowness();
  const stallMs = (options.stallSeconds ?? STALL_SECONDS) * 1000 * slowness;
  const run = mkdtempSync(join(tmpdir(), 'civic-tests-'));
  // Also when it is interrupted.
  process.once('exit', () => rmSync(run, { recursive: true, force: true }));
  const workerEnv = { ...env, CIVIC_TEST_RUN: run, CIVIC_TEST_SLOWNESS: slowness.toFixed(1) };
  const progress = showProgress(waiting.length);
  const results = new Map<string, FileResult>();

  const work = async (_: unknown, job: number | string) => {
    let worker: Worker | null = null;
    for (let file = waiting.shift(), number = 0; file; file = waiting.shift(), number++) {
      const name = nameOf(file);
      const start = () => startWorker(workerEnv, join(run, `output-${job}-${number}`));
      const own = isAlone(file) ? start() : null;
      if (!own) worker ??= start();
      progress.started(name);
      const result = await runFile({ worker: own ?? worker!, file, name, report: join(run, `report-${job}-${number}`), stallMs });
      times[name] = result.ms;
      results.set(file, { ...result, failedBefore: results.get(file)?.reason });
      progress.ended(result);
      await own?.end();
      if (own || !result.reason) continue;
      await worker!.end();
      worker = null;
    }
    await worker?.end();
  };
  await Promise.all(Array.from({ length: jobs }, work));
  if (options.again) {
    const failed = files.filter((file) => results.get(file)!.failed);
    if (failed.length <= MOST_AGAIN) waiting.push(...failed);
    await work(null, 'again');
  }
  progress.finish();
  if (env.CIVIC_TEST_PG_URL) await dropPostgresTemplates(env.CIVIC_TEST_PG_URL, run);
  writeTimes(options.timesFile, times);
  return [...results.values()];
}

function namedFiles({ folder, filters = [], sqlite, quick }: RunOptions): string[] {
  return testFiles(folder).filter((file) => {
    const name = relative(folder, file);
    if ((sqlite || quick) && isInSlowFolder(name)) return false;
    return !filters.length || filters.some((filter) => name.includes(filter));
  });
}

/** The files to run, and how many files a quick run leaves out for each reason. */
function chosenFiles(options: RunOptions): { files: string[]; leftOut: Map<string, number> } {
  const leftOut = new Map<string, number>();
  const files = namedFiles(options).filter((file) => {
    const reason = reasonNotQuick(file, options);
    if (reason !== null) leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    return reason === null;
  });
  return { files, leftOut };
}

function describeLeftOut(leftOut: Map<string, number>): string {
  const lines = [...leftOut].map(([reason, count]) => `  ${count} ${count === 1 ? 'file' : 'files'}: ${reason}`);
  return `\nLeft out by --quick:\n${lines.join('\n')}`;
}

function describeNoFiles({ folder, filters = [] }: RunOptions): string {
  return filters.length ? `No test file has ${filters.join(' or ')} in its name` : `No test files in ${folder}`;
}

/** Runs the test files in a few processes, beside one Postgres for all. Returns the exit code. */
export async function runTests(options: RunOptions): Promise<number> {
  const sqliteOnly = Boolean(options.sqlite || options.quick);
  const { files, leftOut } = chosenFiles(options);
  if (!files.length) {
    console.log(leftOut.size ? describeLeftOut(leftOut) : describeNoFiles(options));
    console.log('0 passed, 0 failed');
    return 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      endAllWorkers();
      process.exit(130);
    });
  }
  const started = performance.now();
  keepFilesInMemory();
  const postgres = sqliteOnly ? { missing: SQLITE_ONLY } : await startPostgres();
  let results: FileResult[];
  try {
    results = await runAll(files, options, environment(postgres, sqliteOnly));
  } finally {
    if ('stop' in postgres) await postgres.stop();
  }
  console.log(slowest(results, 'Slowest files', ({ ms }) => ms));
  console.log(slowest(results, 'Files that use most CPU', ({ cpuSeconds }) => cpuSeconds));
  // Includes Postgres and all other processes, which have ended now.
  console.log(`\n${files.length} files in ${Math.round((performance.now() - started) / 1000)} s, with ${Math.round(ownCpuSeconds())} s of CPU`);
  const reasons = new Set(results.flatMap((result) => result.skipReasons));
  if ('missing' in postgres) reasons.add(`all that needs Postgres: ${postgres.missing}`);
  if (reasons.size) console.log(`\nSkipped:\n${[...reasons].map((reason) => `  ${reason}`).join('\n')}`);
  if (leftOut.size) console.log(describeLeftOut(leftOut));
  const unstable = results.filter((result) => result.failedBefore && !result.failed);
  if (unstable.length) console.log(`\nUnstable, failed and then passed alone (the first output is above):\n${unstable.map((result) => `  ${result.name}: ${result.failedBefore}`).join('\n')}`);
  const bad = results.filter((result) => result.failed);
  if (bad.length) console.log(`\nFailed:\n${bad.map((result) => `  ${result.name}: ${result.reason}`).join('\n')}`);
  console.log(`\n${summary(results)}`);
  return bad.length ? 1 : 0;
}
