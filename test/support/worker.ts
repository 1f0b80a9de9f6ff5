import Lab from '@hapi/lab';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../core/root.ts';
import { slowness } from '../../core/test/wait.ts';
import { ownCpuSeconds } from './cpu.ts';
import { leftovers, readState } from './leftovers.ts';

// A process that runs test files one after the other: loading core and the plugins takes longer than most files.

export interface Order {
  file: string;
  /** The file that reporter.cjs writes. */
  report: string;
}

export interface Done {
  /** False when a test failed, or an error occurred outside of the tests. */
  isClean: boolean;
  /** The changes of the process that the file left behind. */
  left: string[];
  cpuSeconds: number;
}

/** The parts of a lab script that are used here. */
interface Experiment {
  experiments: Experiment[];
  tests: { options: { timeout?: number } }[];
}
interface Script {
  _root: Experiment;
  _executionScheduled: boolean;
}

const REPORTER = join(projectRoot, 'test', 'support', 'reporter.cjs');
const TEST_MS = 120_000;
const { report } = Lab as unknown as { report(scripts: object[], options: object): Promise<{ code: number }> };

/** Raises the limits of tests to at least the usual one, times the slowness of the machine: only tests that hang should reach a limit. */
function raiseLimits({ tests, experiments }: Experiment, limit: number): void {
  for (const { options } of tests) options.timeout = Math.max(limit, (options.timeout ?? 0) * slowness);
  for (const experiment of experiments) raiseLimits(experiment, limit);
}

async function run({ file, report: target }: Order): Promise<Done> {
  const cpu = ownCpuSeconds();
  const before = readState();
  const { lab } = await import(pathToFileURL(file).href) as { lab?: Script };
  const limit = TEST_MS * slowness;
  if (lab) {
    // Otherwise lab also runs the script by itself.
    lab._executionScheduled = true;
    raiseLimits(lab._root, limit);
  }
  const { code } = await report(lab ? [lab] : [], { reporter: ['console', REPORTER], output: ['stdout', target], timeout: limit, leaks: false });
  return { isClean: code === 0, left: await leftovers(before), cpuSeconds: ownCpuSeconds() - cpu };
}

// Lab sets an unlimited stack depth, which slows down each error of a rejected request.
Error.stackTraceLimit = 30;
process.env.NODE_ENV = 'test'; // as lab does
process.on('message', (order: Order) => {
  run(order).then(
    (done) => { process.send!(done); },
    (error: Error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(1);
    },
  );
});
// The runner has no more files for it, or was killed.
process.on('disconnect', () => { process.exit(); });
