import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';

const LAB = join(projectRoot, 'node_modules', '@hapi', 'lab', 'bin', 'lab');
const REPORTER = join(projectRoot, 'test', 'support', 'reporter.cjs');
const TEST_MS = 60_000;
// Global symbols that libraries leave; everything else that a test leaves there is a leak.
const KNOWN_GLOBALS = [
  'Symbol(undici.globalDispatcher.1)', 'Symbol(undici.globalDispatcher.2)',
  '__zod_globalConfig', '__zod_globalRegistry', '__core-js_shared__', 'Symbol(signal-exit emitter)',
  // Helpers of tslib, which libraries of certificates bring.
  '__extends', '__assign', '__rest', '__decorate', '__param', '__esDecorate', '__runInitializers', '__propKey', '__setFunctionName', '__metadata', '__awaiter', '__generator',
  '__exportStar', '__createBinding', '__values', '__read', '__spread', '__spreadArrays', '__spreadArray', '__await', '__asyncGenerator', '__asyncDelegator', '__asyncValues',
  '__makeTemplateObject', '__importStar', '__importDefault', '__classPrivateFieldGet', '__classPrivateFieldSet', '__classPrivateFieldIn', '__addDisposableResource',
  '__disposeResources', '__rewriteRelativeImportExtension',
];

export interface FileResult {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
  output: string;
  /** Why it failed, in a few words; empty when it did not. */
  reason: string;
  /** What its lines `skipped: …` and `skipped on …: …` say, or else the titles of the skipped tests. */
  skipReasons: string[];
}

const running = new Set<ChildProcess>();

/** Also ends what the tests of the file started and forgot. */
function endGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

export function endAllFiles(): void {
  for (const child of running) endGroup(child);
}

function readReport(file: string): { state: string; title: string }[] {
  if (!existsSync(file)) return [];
  // A killed process may have left half a line.
  return readFileSync(file, 'utf8').split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
}

function whyFailed(counts: { total: number; failed: number }, end: { hasEnded: boolean; isLate: boolean; code: number | null; signal: string | null; limit: number }): string {
  if (end.isLate) return `still running after ${end.limit / 1000} s`;
  if (!end.hasEnded) return `ended early with ${end.signal ?? `exit code ${end.code}`}`;
  if (!counts.total) return 'runs no test';
  if (counts.failed) return `${counts.failed} of ${counts.total} failed`;
  return end.code === 0 ? '' : 'failed outside its tests';
}

/** Runs one compiled test file with lab. */
export async function runFile({ file, name, env, limit, report }: { file: string; name: string; env: NodeJS.ProcessEnv; limit: number; report: string }): Promise<FileResult> {
  const started = performance.now();
  const reporters = ['--reporter', 'console', '--output', 'stdout', '--reporter', REPORTER, '--output', report];
  const child = spawn(process.execPath, [LAB, '--sourcemaps', '--timeout', String(TEST_MS), '--globals', KNOWN_GLOBALS.join(','), ...reporters, file],
    { cwd: projectRoot, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  running.add(child);
  let output = '';
  let isLate = false;
  child.stdout.on('data', (chunk) => { output += chunk; });
  child.stderr.on('data', (chunk) => { output += chunk; });
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child);
  }, limit);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('exit', () => endGroup(child));
    child.on('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  running.delete(child);

  const lines = readReport(report);
  const count = (state: string) => lines.filter((line) => line.state === state).length;
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  const total = counts.passed + counts.failed + counts.skipped;
  const reason = whyFailed({ total, failed: counts.failed }, { hasEnded: count('ended') > 0, isLate, code, signal, limit });
  const said = output.split('\n').filter((line) => /^skipped\b.*: /.test(line)).map((line) => line.replace(/^skipped(?:: )?/, '').trim());
  const titles = lines.filter((line) => line.state === 'skipped').map((line) => `${name}: ${line.title}`);
  return { name, ...counts, failed: reason ? Math.max(1, counts.failed) : 0, ms: performance.now() - started, output, reason, skipReasons: said.length ? said : titles };
}
