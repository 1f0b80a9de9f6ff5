import type { Terminal } from './command.ts';
import { commandHelp, overview, pointingToHelp } from './help.ts';
import { listCommands } from './listing.ts';
import { earlyOption, findCommand, parseCall } from './parse.ts';

/** Prints all commands, or the command that the words name. */
export async function showHelp(argv: string[], terminal: Terminal): Promise<void> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const commands = await listCommands();
  if (words.length === 0) return terminal.out(overview(commands, terminal));
  const found = findCommand(commands, words);
  if (found) return terminal.out(commandHelp(found.command, terminal));
  await (await import('./composed.ts')).explainUnknown([...words, '--help'], commands, terminal);
}

/** Prints the help of the command that the arguments name. Returns false when the arguments are no call for help of a known command. */
export async function showCommandHelp(argv: string[], terminal: Terminal): Promise<boolean> {
  const found = findCommand(await listCommands(earlyOption(argv, 'config')), argv);
  if (!found) return false;
  const isHelp = await pointingToHelp(found.command, async () => parseCall(found.command, found.rest).options.help === true);
  if (isHelp) terminal.out(commandHelp(found.command, terminal));
  return isHelp;
}
