import type { ColumnKind, Dialect, Kind, Reader, TableOptions, Tx } from './types.ts';

/** A table as its migrations described it: enough to make it again on either database. */
export interface TableDefinition {
  columns: [name: string, kind: ColumnKind][];
  primary: string[];
  unique: string[][];
  index: string[][];
  references: Record<string, string>;
  /** A full-text index; see search.ts. */
  search: boolean;
}

export interface RecordedTable {
  name: string;
  plugin: string;
  derived: boolean;
  definition: TableDefinition;
}

export function dialectOf(db: Reader): Dialect {
  return db.client.dialect === 'sqlite3' ? 'sqlite' : 'postgres';
}

export function kindOf(kind: ColumnKind): { kind: Kind; nullable: boolean } {
  return kind.endsWith('?') ? { kind: kind.slice(0, -1) as Kind, nullable: true } : { kind: kind as Kind, nullable: false };
}

const BOOKKEEPING = [
  'create table if not exists core_migrations (plugin text not null, name text not null, applied_at text not null, primary key (plugin, name))',
  'create table if not exists core_tables (name text not null primary key, plugin text not null, position integer not null, derived integer not null, definition text not null)',
];

/** The two tables that stand before any migration; backups carry what they say in the manifest. */
export async function createBookkeeping(tx: Tx): Promise<void> {
  for (const statement of BOOKKEEPING) await tx.raw(statement);
}

/** Every table of every plugin, on or off, in the order they were made. */
export async function recordedTables(db: Reader): Promise<RecordedTable[]> {
  const rows = await db('core_tables').orderBy('position');
  return rows.map((row) => ({ name: row.name, plugin: row.plugin, derived: row.derived === 1, definition: JSON.parse(row.definition) }));
}

export async function recordTable(tx: Tx, table: RecordedTable): Promise<void> {
  const [last] = await tx('core_tables').max({ position: 'position' });
  await tx('core_tables').insert({
    name: table.name, plugin: table.plugin, position: (last?.position ?? 0) + 1, derived: table.derived ? 1 : 0, definition: JSON.stringify(table.definition),
  });
  forget(tx, table.name);
}

export async function updateDefinition(tx: Tx, name: string, definition: TableDefinition): Promise<void> {
  await tx('core_tables').where({ name }).update({ definition: JSON.stringify(definition) });
  forget(tx, name);
}

export async function forgetTable(tx: Tx, name: string): Promise<void> {
  await tx('core_tables').where({ name }).delete();
  forget(tx, name);
}

// Kept per database: a transaction shares the config object of the Knex it came from.
const cache = new WeakMap<object, Map<string, Map<string, Kind>>>();

function forget(tx: Tx, name: string): void {
  cache.get(tx.client.config)?.delete(name);
}

export async function readDefinition(db: Reader, name: string): Promise<TableDefinition> {
  const row = await db('core_tables').where({ name }).first('definition');
  if (!row) throw new Error(`The table ${name} was not made by a migration`);
  return JSON.parse(row.definition);
}

/** The kinds of these columns, remembered; read again when one is not known, since another node may have migrated. */
export async function columnKinds(db: Reader, table: string, columns: string[]): Promise<Kind[]> {
  const tables = cache.get(db.client.config) ?? new Map<string, Map<string, Kind>>();
  cache.set(db.client.config, tables);
  let kinds = tables.get(table);
  if (!kinds || columns.some((column) => !kinds!.has(column))) {
    const definition = await readDefinition(db, table);
    kinds = new Map(definition.columns.map(([name, kind]) => [name, kindOf(kind).kind]));
    tables.set(table, kinds);
  }
  return columns.map((column) => {
    const kind = kinds.get(column);
    if (!kind) throw new Error(`The table ${table} has no column ${column}`);
    return kind;
  });
}

export function defineTable(columns: Record<string, ColumnKind>, options: TableOptions = {}): TableDefinition {
  const entries = Object.entries(columns);
  const key = entries.find(([, kind]) => kind === 'id');
  return { columns: entries, primary: key ? [key[0]] : options.primary ?? [], unique: options.unique ?? [], index: options.index ?? [], references: options.references ?? {}, search: false };
}
