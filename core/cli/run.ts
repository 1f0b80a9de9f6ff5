import type { Command, Terminal } from './command.ts';
import { withDialog } from './dialog.ts';
import { commandHelp, pointingToHelp } from './help.ts';
import { ownCommands } from './own.ts';
import { findCommand, parseCall } from './parse.ts';

/** Runs a command of core or of the composition. */
export async function runCommand(argv: string[], terminal: Terminal): Promise<number | void> {
  const own = findCommand(ownCommands(), argv);
  if (!own) return (await import('./composed.ts')).runComposed(argv, terminal);
  await runOwn(await own.command.load(), own.rest, terminal);
}

async function runOwn(command: Command, rest: string[], terminal: Terminal): Promise<void> {
  await pointingToHelp(command, async () => {
    const call = parseCall(command, rest);
    if (call.options.help) return terminal.out(commandHelp(command, terminal));
    await withDialog(call.options, terminal, (dialog) => command.run({ terminal, dialog, cwd: process.cwd(), ...call }));
  });
}
