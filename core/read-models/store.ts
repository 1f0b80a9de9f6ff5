import type { Reader, Tx } from '../database/types.ts';

export interface ModelName {
  plugin: string;
  name: string;
}

export interface StoredModel extends ModelName {
  /** With which the rows were filled: 0 when that is unknown or rows of several versions are mixed, null when they were never filled. */
  version: number | null;
  /** The version that the newest start wants. */
  target: number;
  /** Whether every row is there, of whatever version. */
  complete: 0 | 1;
}

const TABLE = 'core_read_models';
const named = ({ plugin, name }: ModelName): ModelName => ({ plugin, name });

export async function storedModels(reader: Reader): Promise<StoredModel[]> {
  return reader(TABLE).select('plugin', 'name', 'version', 'target', 'complete');
}

export async function storedModel(reader: Reader, model: ModelName): Promise<StoredModel | undefined> {
  return reader(TABLE).where(named(model)).first('plugin', 'name', 'version', 'target', 'complete');
}

/** Records a read model that is not known yet. Its tables hold rows when a version of civic before this record filled them. */
export async function addModel(tx: Tx, model: ModelName & { version: number; tables: string[] }): Promise<void> {
  const derived: string[] = await tx('core_tables').where({ plugin: model.plugin, derived: 1 }).pluck('name');
  const other = model.tables.find((table) => !derived.includes(table));
  if (other) throw new Error(`its table ${other} is not one that a migration created with derived: true`);
  const isFilled = await hasRows(tx, model.tables);
  await tx(TABLE).insert({ ...named(model), version: isFilled ? 0 : null, target: model.version, complete: isFilled }).onConflict(['plugin', 'name']).ignore();
}

async function hasRows(reader: Reader, tables: string[]): Promise<boolean> {
  for (const table of tables) if (await reader(table).first(reader.raw('1 as found'))) return true;
  return false;
}

/** Ends a rebuild to another version. What that one has replaced by now is unknown. */
export async function claimRebuild(tx: Tx, model: ModelName, target: number): Promise<void> {
  await tx(TABLE).where(named(model)).whereNot({ target }).update({ target, version: tx.raw('case when version = target then version else 0 end') });
}

/** Records that rows are about to be missing. */
export async function beginFilling(tx: Tx, model: ModelName, target: number): Promise<void> {
  await tx(TABLE).where(named(model)).update({ target, complete: false });
}

/** Does nothing when another version has claimed the rebuild. */
export async function finishRebuild(tx: Tx, model: ModelName, version: number): Promise<void> {
  await tx(TABLE).where({ ...named(model), target: version }).update({ version, complete: true });
}
