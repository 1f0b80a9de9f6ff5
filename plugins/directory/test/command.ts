import type { CommandCall, Terminal } from 'civic';
import type { TestServer } from 'civic/testing';

/** Runs a command of the plugin as `bin/civic --json` would, and answers what it prints. */
export async function run(kit: Pick<TestServer, 'composition'>, name: string, options: CommandCall['options'] = {}, onProgress: (done: number) => void = () => undefined): Promise<any> {
  const command = kit.composition.commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command "${name}"`);
  let printed: unknown;
  const terminal: Terminal = {
    json: true,
    signal: new AbortController().signal,
    out: () => undefined,
    err: () => undefined,
    print: (value) => { printed = value; },
    progress: (_label, done) => { onProgress(done); },
    style: (_style, text) => text,
  };
  await command.run({ terminal, positionals: [], options, cwd: process.cwd() });
  return printed;
}
