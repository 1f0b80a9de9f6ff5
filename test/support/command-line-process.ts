import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCivicInProcess } from './in-process.ts';

// Runs the commands that its parent sends, with the bundle of the given folder.
const [root, cwd] = process.argv.slice(2) as [string, string];
const { main } = await import(pathToFileURL(join(root, 'dist/bundle/main.js')).href) as { main: (args: string[]) => Promise<number> };

process.on('message', async (args: string[]) => {
  process.send!(await runCivicInProcess(args, { cwd }, main));
});
