import { join } from 'node:path';
import { recommendedPlugins } from './config/generate.ts';
import { readConfigFile, type ConfigDocument } from './config/load.ts';
import { readMeta, writeMeta } from './database/meta.ts';
import type { Database, Reader } from './database/types.ts';
import { bundledPlugins } from './load.ts';
import type { Prepared } from './prepare.ts';
import { projectRoot } from './root.ts';

const FILE = 'config/civic.default.yaml';
const KEY = 'default_plugins';

/** Returns the plugins of the default config file, in its order. */
export function defaultPlugins(): string[] {
  return readConfigFile({ file: join(projectRoot, FILE), env: {}, args: {}, root: projectRoot }).plugins.map(({ name }) => name);
}

/** Whether the operator has a config file, or runs the defaults. */
export function hasOwnFile({ file }: ConfigDocument): boolean {
  return file !== null && !file.endsWith('civic.default.yaml');
}

/** A plugin of the kit that does not run. */
export interface OffPlugin {
  name: string;
  /** What the instance lacks without it, when the plugin is recommended. */
  warning?: string;
}

/** Returns the plugins of the kit that are off. Loads none of them: a module that is loaded registers its problem codes. */
export function pluginsOff({ plugins }: Prepared): OffPlugin[] {
  const on = new Set(plugins.map(({ name }) => name));
  const recommended = recommendedPlugins(projectRoot);
  return bundledPlugins().filter((name) => !on.has(name)).map((name) => ({ name, ...(recommended.has(name) ? { warning: recommended.get(name) } : {}) }));
}

/** Returns the default plugins that came with an upgrade and that the configuration neither names nor declines. */
export async function newDefaults(reader: Reader, document: ConfigDocument): Promise<string[]> {
  const known = (await readMeta(reader, KEY)) as string[] | undefined;
  if (known === undefined) return [];
  const decided = new Set([...known, ...document.plugins.map(({ name }) => name)]);
  return defaultPlugins().filter((name) => !decided.has(name));
}

/** Records the default plugins the operator has seen: all of them at the first start, later those the configuration mentions. */
export async function rememberDefaults(db: Database, document: ConfigDocument): Promise<void> {
  const known = (await readMeta(db.read, KEY)) as string[] | undefined;
  const undecided = new Set(await newDefaults(db.read, document));
  const seen = defaultPlugins().filter((name) => !undecided.has(name));
  const next = [...new Set([...(known ?? []), ...seen])];
  if (next.length !== known?.length) await db.write((tx) => writeMeta(tx, KEY, next));
}
