import { writeFileSync } from 'node:fs';
import { runAs, type Program } from '../program.ts';
import type { CommandDescription } from './command.ts';
import { allCommands, commandsOf } from './composed.ts';
import { LISTING, type Listing } from './listing.ts';
import { loadOwnCommands } from './own.ts';

/** Writes the commands of core, of these plugins and of other programs where help reads them. Writes nothing when the plugins cannot be composed: help then says why. */
export async function writeListing(plugins: string[], others: Program[]): Promise<void> {
  const commands = await commandsOf(plugins);
  if (!commands) return;
  const own = (await loadOwnCommands()).map(describe);
  // In the order of the composition, so that help is the same without this file.
  const ordered = new Set(['core', ...commands.map(({ plugin }) => plugin), ...plugins]);
  const composed = Object.fromEntries([...ordered].map((plugin) => [plugin, commands.filter((command) => command.plugin === plugin).map(describe)]));
  const programs: Listing['programs'] = {};
  for (const program of others) programs[program.name] = await commandsOfProgram(program);
  writeFileSync(LISTING, JSON.stringify({ own, composed, programs } satisfies Listing));
}

/** Returns the commands of a program with its default options. */
async function commandsOfProgram(program: Program): Promise<CommandDescription[]> {
  runAs(program);
  try {
    return (await allCommands({ env: {}, args: {}, text: '' })).map(describe);
  } finally {
    runAs();
  }
}

function describe({ name, summary, arguments: words, options, examples }: CommandDescription): CommandDescription {
  return { name, summary, arguments: words, options, examples };
}
