import type { Reader, Tx } from './types.ts';

const TABLE = 'core_meta';

/** Returns a fact that core keeps about this installation, or undefined. */
export async function readMeta(reader: Reader, key: string): Promise<unknown> {
  const row = await reader(TABLE).where({ key }).first('value');
  return row && JSON.parse(row.value);
}

export async function writeMeta(tx: Tx, key: string, value: unknown): Promise<void> {
  await tx(TABLE).insert({ key, value: JSON.stringify(value) }).onConflict('key').merge();
}
