import type { Reader, Tx } from './types.ts';

const TABLE = 'core_restored';

/** Notes, with the rows themselves, whose derived tables are still empty: a rebuild that fails or is killed is made up for by the next start. */
export async function markRestored(tx: Tx, plugins: string[]): Promise<void> {
  if (plugins.length > 0) await tx(TABLE).insert(plugins.map((plugin) => ({ plugin })));
}

export async function restoredPlugins(reader: Reader): Promise<string[]> {
  return reader(TABLE).pluck('plugin');
}

export async function forgetRestored(tx: Tx, plugin: string): Promise<void> {
  await tx(TABLE).where({ plugin }).delete();
}
