import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import type { Ended, RunOptions } from './civic.ts';

/** A process that runs several commands of `bin/civic`. */
export interface CommandLine {
  pid: number;
  run(...args: string[]): Promise<Ended>;
  end(): Promise<void>;
}

/**
 * Starts a process that runs command lines one after the other, a second of CPU cheaper than a process for each. For commands of
 * another user, of another copy of the kit or in another mount namespace, which the process of the test cannot run.
 */
export function startCommandLine({ root = projectRoot, cwd = root, uid, through = [] }: Pick<RunOptions, 'root' | 'cwd' | 'uid' | 'through'>): CommandLine {
  const [execPath, ...execArgv] = [...through, process.execPath];
  const child = fork(join(import.meta.dirname, 'command-line-process.js'), [root, cwd], { uid, env: { PATH: process.env.PATH, HOME: process.env.HOME }, execPath, execArgv });
  const exited = once(child, 'exit');
  return {
    pid: child.pid!,
    async run(...args) {
      child.send(args);
      const [ended] = await Promise.race([once(child, 'message'), exited.then(() => { throw new Error(`The process ended during ${args.join(' ')}`); })]) as [Ended];
      return ended;
    },
    async end() {
      child.disconnect();
      await exited;
    },
  };
}
