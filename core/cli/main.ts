import { version } from '../root.ts';
import { backup } from './backup.ts';
import type { Command, Terminal } from './command.ts';
import { composedCommands, explainUnknown, runComposed } from './composed.ts';
import { configCheck, configHelp, configShow } from './config.ts';
import { contractsCheck, contractsWrite } from './contracts.ts';
import { doctor } from './doctor.ts';
import { exitCodeOf } from './exit.ts';
import { commandHelp, overview, pointingToHelp } from './help.ts';
import { init } from './init.ts';
import { migrateCommand } from './migrate.ts';
import { findCommand, parseCall } from './parse.ts';
import { pluginCheck, pluginList, pluginNew } from './plugin.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { createTerminal, processOutlet } from './terminal.ts';

/** The commands that work with a broken config, or check it themselves. All others come from the composition. */
const OWN_COMMANDS: Command[] = [
  serve, init, migrateCommand, doctor, configShow, configCheck, configHelp,
  pluginList, pluginNew, pluginCheck, contractsWrite, contractsCheck, backup, restore,
];

/** Runs `bin/civic` and returns its exit code. */
export async function main(argv: string[]): Promise<number> {
  const interrupted = new AbortController();
  // The first Ctrl-C lets the work end cleanly; Node's own handling of the second ends the process.
  process.once('SIGINT', () => { interrupted.abort(); });
  process.once('SIGTERM', () => { interrupted.abort(); });
  // As `bin/civic export | head` does: whoever read has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupted.abort();
  });
  const terminal = createTerminal(processOutlet(), { json: argv.includes('--json'), signal: interrupted.signal });
  return exitCodeOf(() => dispatch(argv, terminal), terminal);
}

/** Runs the command that the arguments name. */
export async function dispatch(argv: string[], terminal: Terminal): Promise<number | void> {
  const [first] = argv;
  if (first === '--version' || first === '-v' || first === 'version') return terminal.print({ version }, () => version);
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') return showHelp(argv.slice(1), terminal);
  const own = findCommand(OWN_COMMANDS, argv);
  if (!own) return runComposed(argv, OWN_COMMANDS, terminal);
  await runOwn(own.command, own.rest, terminal);
}

async function runOwn(command: Command, rest: string[], terminal: Terminal): Promise<void> {
  await pointingToHelp(command, async () => {
    const call = parseCall(command, rest);
    if (call.options.help) return terminal.out(commandHelp(command, terminal));
    await command.run({ terminal, cwd: process.cwd(), ...call });
  });
}

async function showHelp(argv: string[], terminal: Terminal): Promise<void> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const commands = [...OWN_COMMANDS, ...await composedCommands()];
  if (words.length === 0) return terminal.out(overview(commands, terminal));
  const found = findCommand(commands, words);
  if (found) return terminal.out(commandHelp(found.command, terminal));
  await explainUnknown([...words, '--help'], commands, terminal);
}
