import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { installNode, NODE_VERSIONS } from '../support/node-versions.ts';

export interface NodesOptions {
  /** Only the newest version, as in CI. */
  isNewestOnly: boolean;
  say(words: string): void;
}

/** Runs the quick tests on other versions of Node, by each driver of SQLite that the version has. Returns what failed. */
export async function soakNodes({ isNewestOnly, say }: NodesOptions): Promise<string[]> {
  const faults: string[] = [];
  for (const version of isNewestOnly ? NODE_VERSIONS.slice(-1) : NODE_VERSIONS) {
    let bin: string;
    try {
      bin = await installNode(version);
    } catch (error) {
      const reason = `Node ${version} cannot be installed from the npm registry: ${(error as Error).message}`;
      say(reason);
      // Whoever has no network still runs the rest; CI must not pass by skipping.
      if (process.env.CI) faults.push(reason);
      continue;
    }
    for (const driver of version.startsWith('20.') ? ['sqlite3'] : ['sqlite3', 'node']) {
      say(`Node ${version}, SQLite driver ${driver}`);
      const code = await runQuickTests(bin, driver);
      if (code !== 0) faults.push(`Node ${version}, SQLite driver ${driver}: the quick tests ended with ${code}`);
    }
  }
  return faults;
}

/** With the files that start processes: `bin/civic` finds its Node in PATH. */
async function runQuickTests(bin: string, driver: string): Promise<unknown> {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, CIVIC_TEST_SQLITE_DRIVER: driver };
  const child = spawn(join(bin, 'node'), [join(projectRoot, 'dist/test/run.js'), '--sqlite', '--again'], { cwd: projectRoot, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = await once(child, 'exit');
  return code ?? signal;
}
