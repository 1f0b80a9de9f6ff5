import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { startPostgres, type RunningPostgres } from '../../core/testing/postgres.ts';
import { dropPostgresTemplates } from '../../core/testing/template.ts';
import { endAllFiles, runFile, type FileResult } from './file.ts';
import { showProgress } from './progress.ts';

export interface RunOptions {
  /** Where the compiled tests are. */
  folder: string;
  /** Parts of file names; all files without any. */
  filters?: string[];
  /** Keeps how long each file took, which decides the order of the next run. */
  timesFile?: string;
  jobs?: number;
  /** How long one file may take. */
  fileSeconds?: number;
}

function testFiles(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'));
  return all.map((entry) => join(entry.parentPath, entry.name)).filter((file) => {
    const folders = relative(folder, dirname(file)).split(sep);
    return folders.includes('test') && !folders.includes('node_modules');
  });
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
    // The next run then has another order.
  }
}

/** What the tests see: none of the settings that this shell may have for an instance of its own. */
function environment(postgres: RunningPostgres | { missing: string }): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^CIVIC_(?!TEST_|REQUIRE_|UPDATE_)/.test(name));
  const found = 'url' in postgres ? { CIVIC_TEST_PG_URL: postgres.url } : { CIVIC_TEST_PG_MISSING: postgres.missing };
  return { ...Object.fromEntries(kept), ...found };
}

function sum(results: FileResult[], part: 'passed' | 'failed' | 'skipped'): number {
  return results.reduce((total, result) => total + result[part], 0);
}

function summary(results: FileResult[]): string {
  const skipped = sum(results, 'skipped');
  return `${sum(results, 'passed')} passed, ${sum(results, 'failed')} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

interface Results {
  /** The last one of each file. */
  last: FileResult[];
  /** The first one of those that passed only when they were run again. */
  unsteady: FileResult[];
}

async function runAll(files: string[], options: RunOptions, env: NodeJS.ProcessEnv): Promise<Results> {
  const times = readTimes(options.timesFile);
  const nameOf = (file: string) => relative(options.folder, file).replace(/\.test\.js$/, '');
  // The slowest first, so that none of them is left alone at the end; unknown ones may be slow.
  const waiting = files.toSorted((a, b) => (times[nameOf(b)] ?? Infinity) - (times[nameOf(a)] ?? Infinity) || 0);
  const jobs = options.jobs ?? (Number(process.env.CIVIC_TEST_JOBS) || Math.min(availableParallelism(), 8));
  const limit = (options.fileSeconds ?? (Number(process.env.CIVIC_TEST_FILE_SECONDS) || 300)) * 1000;
  const run = mkdtempSync(join(tmpdir(), 'civic-tests-'));
  // Also when it is interrupted.
  process.once('exit', () => rmSync(run, { recursive: true, force: true }));

  async function runEach(queue: string[], atOnce: number, round: string): Promise<Map<string, FileResult>> {
    const progress = showProgress(queue.length);
    const results = new Map<string, FileResult>();
    const work = async () => {
      for (let file = queue.shift(); file; file = queue.shift()) {
        const name = nameOf(file);
        progress.started(name);
        const result = await runFile({ file, name, env: { ...env, CIVIC_TEST_RUN: run }, limit, report: join(run, `${round}-${name.replaceAll(sep, '-')}`) });
        times[name] = result.ms;
        results.set(file, result);
        progress.ended(result);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    progress.finish();
    return results;
  }

  const first = await runEach(waiting, jobs, 'first');
  const failed = [...first.keys()].filter((file) => first.get(file)!.reason);
  if (failed.length) console.log(`\nRun again, alone: ${failed.map(nameOf).join(', ')}`);
  const again = await runEach([...failed], 1, 'again');
  if (env.CIVIC_TEST_PG_URL) await dropPostgresTemplates(env.CIVIC_TEST_PG_URL, run);
  writeTimes(options.timesFile, times);
  return {
    last: [...first].map(([file, result]) => again.get(file) ?? result),
    unsteady: failed.filter((file) => !again.get(file)!.reason).map((file) => first.get(file)!),
  };
}

/**
 * Runs every test file in a process of its own, beside one Postgres for all. A file that failed is run once more when the
 * others are done, as a busy machine is not a fault of the code; that it passed only then is said. Answers the exit code.
 */
export async function runTests(options: RunOptions): Promise<number> {
  const filters = options.filters ?? [];
  const files = testFiles(options.folder).filter((file) => !filters.length || filters.some((filter) => relative(options.folder, file).includes(filter)));
  if (!files.length) {
    console.log(filters.length ? `No test file has ${filters.join(' or ')} in its name` : `No test files in ${options.folder}`);
    console.log('0 passed, 0 failed');
    return 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      endAllFiles();
      process.exit(130);
    });
  }
  const postgres = await startPostgres();
  try {
    const { last: results, unsteady } = await runAll(files, options, environment(postgres));
    const slowest = results.toSorted((a, b) => b.ms - a.ms).slice(0, 10);
    console.log(`\nSlowest files:\n${slowest.map((result) => `  ${(result.ms / 1000).toFixed(1).padStart(6)} s  ${result.name}`).join('\n')}`);
    const reasons = new Set(results.flatMap((result) => result.skipReasons));
    if ('missing' in postgres) reasons.add(`all that needs Postgres: ${postgres.missing}`);
    if (reasons.size) console.log(`\nSkipped:\n${[...reasons].map((reason) => `  ${reason}`).join('\n')}`);
    const bad = results.filter((result) => result.failed);
    for (const [title, some] of [['Unsteady: passed only when run again alone', unsteady], ['Failed:', bad]] as const) {
      if (some.length) console.log(`\n${title}\n${some.map((result) => `  ${result.name}: ${result.reason}`).join('\n')}`);
    }
    console.log(`\n${summary(results)}`);
    return bad.length ? 1 : 0;
  } finally {
    if ('stop' in postgres) await postgres.stop();
  }
}
