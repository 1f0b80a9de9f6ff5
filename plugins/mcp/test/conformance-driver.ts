import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Outcome } from './conformance-run.ts';

/**
 * Runs scenarios of the suite in this process and sends their outcomes to the parent process. The suite is a command that runs one
 * scenario and exits. Most of its time is for loading packages, so this process loads them once and imports only the command again.
 */
const [url, ...scenarios] = process.argv.slice(2);
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const command = pathToFileURL(join(manifest, '../dist/index.js')).href;

for (const [index, name] of scenarios.entries()) {
  const [revision, scenario] = name.split('/') as [string, string];
  process.argv = [process.argv[0]!, command, 'server', '--url', url!, '--scenario', scenario, '--spec-version', revision];
  const lines: string[] = [];
  console.log = console.error = (...words: unknown[]) => { lines.push(words.join(' ')); };
  const code = await new Promise<number>((done) => {
    process.exit = ((given?: number) => { done(given ?? 0); return new Promise(() => undefined); }) as never;
    void import(`${command}?${index}`);
  });
  process.send!({ name, isPassed: code === 0, output: lines.join('\n') } satisfies Outcome);
}
process.disconnect();
