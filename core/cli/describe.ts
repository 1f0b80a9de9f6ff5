import { writeFileSync } from 'node:fs';
import type { CommandDescription } from './command.ts';
import { commandsOf } from './composed.ts';
import { LISTING, type Listing } from './listing.ts';
import { loadOwnCommands } from './own.ts';

/** Writes the commands of core and of these plugins where help reads them. Writes nothing when the plugins cannot be composed: help then says why. */
export async function writeListing(plugins: string[]): Promise<void> {
  const commands = await commandsOf(plugins);
  if (!commands) return;
  const own = (await loadOwnCommands()).map(describe);
  // In the order of the composition, so that help is the same without this file.
  const ordered = new Set(['core', ...commands.map(({ plugin }) => plugin), ...plugins]);
  const composed = Object.fromEntries([...ordered].map((plugin) => [plugin, commands.filter((command) => command.plugin === plugin).map(describe)]));
  writeFileSync(LISTING, JSON.stringify({ own, composed } satisfies Listing));
}

function describe({ name, summary, arguments: words, options, examples }: CommandDescription): CommandDescription {
  return { name, summary, arguments: words, options, examples };
}
