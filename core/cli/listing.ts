import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfigFile } from '../config/load.ts';
import { program as currentProgram } from '../program.ts';
import { projectRoot } from '../root.ts';
import type { CommandDescription } from './command.ts';

/** The commands of the kit, as the build describes them: help then loads no plugin. */
export interface Listing {
  own: CommandDescription[];
  /** By the plugin that declares them; `core` is the first. */
  composed: Record<string, CommandDescription[]>;
  /** All commands of each program that always runs the same plugins. */
  programs: Record<string, CommandDescription[]>;
}

export const LISTING = join(projectRoot, 'dist/commands.json');

/** Returns the commands of core and of the plugins that the config file switches on. */
export async function listCommands(file?: string): Promise<CommandDescription[]> {
  const listing = readListing();
  const { own, name: program } = currentProgram();
  if (own) return listing?.programs[program] ?? (await import('./composed.ts')).allCommands({ env: process.env, args: {}, file });
  const document = readConfigFile({ file, env: process.env, args: {}, root: projectRoot });
  const plugins = document.plugins.filter(({ enabled }) => enabled);
  // The build knows the plugins that it compiled. Any other is loaded, since its commands may have changed a moment ago.
  if (!listing || plugins.some(({ name, from }) => from !== undefined || !(name in listing.composed))) {
    return (await import('./composed.ts')).allCommands({ env: process.env, args: {}, file });
  }
  if (document.isBroken) return listing.own;
  const names = new Set(['core', ...plugins.map(({ name }) => name)]);
  return [...listing.own, ...Object.entries(listing.composed).flatMap(([plugin, commands]) => (names.has(plugin) ? commands : []))];
}

/** Returns null when the file is missing or damaged: composing the commands takes longer and gives the same. */
function readListing(): Listing | null {
  try {
    const { own, composed, programs } = JSON.parse(readFileSync(LISTING, 'utf8')) as Partial<Listing>;
    return own && composed && programs ? { own, composed, programs } : null;
  } catch {
    return null;
  }
}
