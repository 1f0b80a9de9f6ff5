import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ended } from './civic.ts';
import { runCivicInProcess } from './in-process.ts';

/** A person's machine: `bin/scout` with folders of its own, in this process. */
export interface Machine {
  folder: string;
  env: Record<string, string>;
  scout(...args: string[]): Promise<Ended>;
  remove(): void;
}

export function createMachine(settings: Record<string, string> = {}): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'civic-scout-'));
  const env = { XDG_CONFIG_HOME: join(folder, 'config'), XDG_DATA_HOME: join(folder, 'data'), ...settings };
  return {
    folder,
    env,
    scout: (...args) => runCivicInProcess(args, { env, cwd: folder }, runScout),
    remove: () => { rmSync(folder, { recursive: true, force: true }); },
  };
}

async function runScout(args: string[]): Promise<number> {
  const { main } = await import('../../core/cli/main.ts');
  const { program } = await import('../../plugins/scout/program.ts');
  return main(args, program);
}
