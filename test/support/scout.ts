import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import type { Ended } from './civic.ts';
import { runCivicInProcess } from './in-process.ts';

/** A person's machine: `bin/scout` with folders of its own. */
export interface Machine {
  folder: string;
  env: Record<string, string>;
  /** Runs a command in this process. */
  scout(...args: string[]): Promise<Ended>;
  /** Runs a command in a process of its own, with these lines on standard input. */
  spawn(args: string[], lines?: string[]): Promise<Ended>;
  /** Starts a process without waiting for its end. */
  start(args: string[]): ChildProcessWithoutNullStreams;
  remove(): void;
}

export function createMachine(settings: Record<string, string> = {}): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'civic-scout-'));
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), XDG_DATA_HOME: join(folder, 'data'), ...settings };
  const start = (args: string[]) => spawn(join(projectRoot, 'bin/scout'), args, { cwd: folder, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } });
  return {
    folder,
    env,
    start,
    scout: (...args) => runCivicInProcess(args, { env, cwd: folder }, runScout),
    async spawn(args, lines = []) {
      const child = start(args);
      child.stdin.end(lines.map((line) => `${line}\n`).join(''));
      return endOf(child);
    },
    remove: () => { rmSync(folder, { recursive: true, force: true }); },
  };
}

/** Waits for the end of a process. */
export async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => { stdout += chunk; });
  child.stderr.on('data', (chunk) => { stderr += chunk; });
  const [code] = await once(child, 'close') as [number | null];
  return { code, stdout, stderr };
}

async function runScout(args: string[]): Promise<number> {
  const { main } = await import('../../core/cli/main.ts');
  const { program } = await import('../../plugins/scout/program.ts');
  return main(args, program);
}
