import { existsSync, readFileSync } from 'node:fs';
import type { Run, Worker } from './process.ts';

export interface FileResult {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
  /** Of the file and of the processes that it started and waited for. */
  cpuSeconds: number;
  output: string;
  /** Why it failed, in a few words; empty when it did not. */
  reason: string;
  /** Why it failed the first time, when this is its second run. */
  failedBefore?: string;
  /** The reasons in its lines `skipped: …` and `skipped on …: …`, or else the titles of the skipped tests. */
  skipReasons: string[];
}

function readReport(file: string): { state: string; title: string }[] {
  if (!existsSync(file)) return [];
  // A killed process may have left half a line.
  return readFileSync(file, 'utf8').split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
}

function whyFailed(counts: { total: number; failed: number }, { done, isStalled, code, signal }: Run, stallMs: number): string {
  if (isStalled) return `no test ended and nothing was written for ${Math.round(stallMs / 1000)} s`;
  if (!done) return `ended early with ${signal ?? `exit code ${code}`}`;
  if (!counts.total) return 'runs no test';
  if (counts.failed) return `${counts.failed} of ${counts.total} failed`;
  if (!done.isClean) return 'failed outside its tests';
  return done.left.length ? `left behind for the next file: ${done.left.join(', ')}` : '';
}

/** Runs one compiled test file in a worker. */
export async function runFile({ worker, file, name, report, stallMs }: { worker: Worker; file: string; name: string; report: string; stallMs: number }): Promise<FileResult> {
  const started = performance.now();
  const run = await worker.run({ file, report }, stallMs);
  const lines = readReport(report);
  const count = (state: string) => lines.filter((line) => line.state === state).length;
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  const reason = whyFailed({ total: counts.passed + counts.failed + counts.skipped, failed: counts.failed }, run, stallMs);
  const reasons = run.output.split('\n').filter((line) => /^skipped\b.*: /.test(line)).map((line) => line.replace(/^skipped(?:: )?/, '').trim());
  const titles = lines.filter((line) => line.state === 'skipped').map((line) => `${name}: ${line.title}`);
  return {
    name, ...counts, failed: reason ? Math.max(1, counts.failed) : 0,
    ms: performance.now() - started, cpuSeconds: run.done?.cpuSeconds ?? 0,
    output: run.output, reason, skipReasons: reasons.length ? reasons : titles,
  };
}
