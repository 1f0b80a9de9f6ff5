import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Outcome {
  /** `<revision>/<scenario>`. */
  name: string;
  isPassed: boolean;
  output: string;
}

/** Runs scenarios of the conformance suite against a server in a process of their own. */
export async function runScenarios(url: string, names: string[]): Promise<Map<string, Outcome>> {
  // The suite writes its results into the current folder.
  const folder = mkdtempSync(join(tmpdir(), 'civic-conformance-'));
  const glob = pathToFileURL(join(import.meta.dirname, '../../../test/support/conformance-glob.js')).href;
  const child = fork(join(import.meta.dirname, 'conformance-driver.js'), [url, ...names], { cwd: folder, execArgv: ['--import', glob] });
  const outcomes = new Map<string, Outcome>();
  child.on('message', (outcome: Outcome) => { outcomes.set(outcome.name, outcome); });
  await once(child, 'exit');
  rmSync(folder, { recursive: true });
  return outcomes;
}
