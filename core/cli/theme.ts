import { join } from 'node:path';
import type { CoreConfig } from '../config/types.ts';
import { folderOfPlugin } from '../load.ts';
import type { Plugin } from '../plugin.ts';
import { themeTextFaults } from '../texts/catalogue.ts';

const MOST_FAULTS = 5;

export function themeFolder({ data_dir }: CoreConfig): string {
  return join(data_dir, 'theme');
}

/** Returns what is wrong with the texts of the theme: the first faults, and how many more there are. */
export async function themeFaultsOf(config: CoreConfig, plugins: Plugin[]): Promise<string[]> {
  const folders = Object.fromEntries(plugins.map((plugin) => [plugin.name, folderOfPlugin(plugin)]));
  const faults = await themeTextFaults({ theme: themeFolder(config), folders });
  return faults.length > MOST_FAULTS ? [...faults.slice(0, MOST_FAULTS), `${faults.length - MOST_FAULTS} more texts of the theme cannot be used`] : faults;
}
