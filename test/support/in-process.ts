import { projectRoot } from '../../core/root.ts';
import { driverEnvironment } from '../../core/testing/database.ts';
import type { Ended, RunOptions } from './civic.ts';

/** The options of a call, which shares its user, files and loaded modules with the test. */
export type InProcessOptions = Pick<RunOptions, 'env' | 'cwd'>;

type Main = (args: string[]) => Promise<number>;
// Imported at the first call: files that only start servers do not need it.
const ownMain: Main = async (args) => (await import('../../core/cli/main.ts')).main(args);

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in this process and returns what `runCivic` returns; saves a second of CPU. Calls run one after the other,
 * because environment, folder and streams belong to the process. Use `runCivic` where the process itself is under test (signals,
 * the exit, `serve`, the log on standard output), or where code on disk changes between calls: loaded modules stay loaded.
 */
export function runCivicInProcess(args: string[], options: InProcessOptions = {}, main = ownMain): Promise<Ended> {
  const ended = last.then(() => runAlone(args, options, main));
  last = ended.catch(() => undefined);
  return ended;
}

async function runAlone(args: string[], { env, cwd }: InProcessOptions, main: Main): Promise<Ended> {
  const saved = { env: process.env, cwd: process.cwd() };
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  const dropListeners = rememberListeners();
  process.env = { PATH: saved.env.PATH, HOME: saved.env.HOME, ...driverEnvironment(), ...env };
  try {
    process.chdir(cwd ?? projectRoot);
    const code = await main(args);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = saved.env;
    process.chdir(saved.cwd);
    stdout.release();
    stderr.release();
    dropListeners();
  }
}

/** Collects the output of a stream, which is no terminal meanwhile. */
function capture(stream: NodeJS.WriteStream) {
  const { write, isTTY } = stream;
  const chunks: Buffer[] = [];
  stream.isTTY = false;
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    const written = rest.findLast((argument) => typeof argument === 'function');
    if (written) process.nextTick(written as () => void);
    return true;
  }) as typeof stream.write;
  return {
    text: () => Buffer.concat(chunks).toString(),
    release: () => { Object.assign(stream, { write, isTTY }); },
  };
}

/** Returns a function that removes the listeners added since: each call of `main` adds its own for the life of a process. */
function rememberListeners(): () => void {
  const watched = [[process, 'SIGINT'], [process, 'SIGTERM'], [process.stdout, 'error']] as [NodeJS.EventEmitter, string][];
  const before = watched.map(([emitter, event]) => emitter.rawListeners(event));
  return () => {
    for (const [i, [emitter, event]] of watched.entries()) {
      for (const listener of emitter.rawListeners(event)) {
        if (!before[i]!.includes(listener)) emitter.removeListener(event, listener as () => void);
      }
    }
  };
}
