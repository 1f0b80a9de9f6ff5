import type { Knex } from 'knex';
import { columnKinds, dialectOf } from './tables.ts';
import type { Kind, Reader, Tx } from './types.ts';

export type Row = Record<string, unknown>;

export interface BulkInsertOptions {
  /** What happens to a row whose key is there already; without it, the whole write fails. */
  onConflict?: 'ignore' | {
    columns: string[];
    /** Take the value of the new row. */
    merge: string[];
    /** Counters: the new row's number is added. */
    add?: string[];
  };
}

const CHUNK = 2000;
/** SQLite takes 32,766 bound values a statement. */
const MOST_VALUES = 30_000;

/** Postgres types of the fields inside the one JSON parameter; JSON and bytes travel as text. */
const FIELDS: Record<Kind, string> = { id: 'bigint', uuid: 'uuid', text: 'text', int: 'integer', bigint: 'bigint', real: 'double precision', bool: 'boolean', time: 'timestamptz', json: 'text', blob: 'text' };

/** Inserts rows as one set, through one JSON parameter: many times faster than row by row. All rows have the columns of the first. */
export async function bulkInsert(tx: Tx, table: string, given: object[], options: BulkInsertOptions = {}): Promise<void> {
  if (given.length === 0) return;
  const rows = given as Row[];
  const names = Object.keys(rows[0]!);
  const kinds = await columnKinds(tx, table, names);
  if (rows.some((row) => Object.keys(row).length !== names.length || !names.every((name) => name in row))) throw new Error(`Not all rows for ${table} have the columns of the first`);
  const columns = names.map((name, index) => ({ name, kind: kinds[index]! }));
  const conflict = conflictSql(table, options);
  const unique = withoutRepeats(rows, options);
  const isSqlite = dialectOf(tx) === 'sqlite';
  const insert = !isSqlite ? insertRecordset : columns.some(({ kind }) => kind === 'blob') ? insertValues : insertJsonEach;
  const chunk = insert === insertValues ? Math.floor(MOST_VALUES / columns.length) : CHUNK;
  for (let start = 0; start < unique.length; start += chunk) {
    await insert(tx, table, columns, unique.slice(start, start + chunk), conflict);
  }
}

/**
 * Inserts rows that are JSON text already: an array of arrays, with values in the order of `names`. SQLite takes the text as it is,
 * so that a file of prepared rows is never parsed here. No column is a blob.
 */
export async function bulkInsertJson(tx: Tx, table: string, names: string[], json: string): Promise<void> {
  const kinds = await columnKinds(tx, table, names);
  const columns = names.map((name, index) => ({ name, kind: kinds[index]! }));
  if (dialectOf(tx) === 'sqlite') return insertJsonArrays(tx, table, columns, json, '');
  const rows = (JSON.parse(json) as unknown[][]).map((values) => Object.fromEntries(names.map((name, index) => [name, values[index]])));
  await insertRecordset(tx, table, columns, rows, '');
}

interface Column { name: string; kind: Kind }

function conflictSql(table: string, { onConflict }: BulkInsertOptions): string {
  if (!onConflict) return '';
  if (onConflict === 'ignore') return 'on conflict do nothing';
  const target = onConflict.columns.map(quoted).join(', ');
  const merged = onConflict.merge.map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  const added = (onConflict.add ?? []).map((name) => `${quoted(name)} = ${quoted(table)}.${quoted(name)} + excluded.${quoted(name)}`);
  if (merged.length + added.length === 0) return `on conflict (${target}) do nothing`;
  return `on conflict (${target}) do update set ${[...merged, ...added].join(', ')}`;
}

/** Postgres refuses to merge two rows of one statement into the same one: the last wins, as on SQLite. */
function withoutRepeats(rows: Row[], { onConflict }: BulkInsertOptions): Row[] {
  if (!onConflict || onConflict === 'ignore') return rows;
  const last = new Map<string, Row>();
  for (const row of rows) last.set(JSON.stringify(onConflict.columns.map((name) => row[name])), row);
  return [...last.values()];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A value as it is stored and as it travels in JSON. */
function plainValue(value: unknown, kind: Kind, isSqlite: boolean): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} cannot be stored`);
  if (kind === 'bool') return isSqlite ? Number(Boolean(value)) : Boolean(value);
  if (kind === 'blob') return isSqlite ? value : (value as Buffer).toString('base64');
  return value;
}

async function insertJsonEach(tx: Tx, table: string, columns: Column[], rows: Row[], conflict: string): Promise<void> {
  await insertJsonArrays(tx, table, columns, JSON.stringify(rows.map((row) => columns.map(({ name, kind }) => plainValue(row[name], kind, true)))), conflict);
}

async function insertJsonArrays(tx: Tx, table: string, columns: Column[], json: string, conflict: string): Promise<void> {
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const fields = columns.map((_, index) => `json_extract(value, '$[${index}]')`).join(', ');
  // Without `where true` SQLite would read `on conflict` as part of a join.
  await tx.raw(`insert into ${quoted(table)} (${names}) select ${fields} from json_each(?) where true ${conflict}`, [json]);
}

/** Bytes cannot travel in JSON on SQLite. */
async function insertValues(tx: Tx, table: string, columns: Column[], rows: Row[], conflict: string): Promise<void> {
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const line = `(${columns.map(() => '?').join(', ')})`;
  const values = rows.flatMap((row) => columns.map(({ name, kind }) => plainValue(row[name], kind, true)));
  await tx.raw(`insert into ${quoted(table)} (${names}) values ${rows.map(() => line).join(', ')} ${conflict}`, values as Knex.RawBinding[]);
}

async function insertRecordset(tx: Tx, table: string, columns: Column[], rows: Row[], conflict: string): Promise<void> {
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const fields = columns.map(({ name, kind }) => (kind === 'json' ? `${quoted(name)}::jsonb` : kind === 'blob' ? `decode(${quoted(name)}, 'base64')` : quoted(name))).join(', ');
  const record = columns.map(({ name, kind }) => `${quoted(name)} ${FIELDS[kind]}`).join(', ');
  const json = JSON.stringify(rows.map((row) => Object.fromEntries(columns.map(({ name, kind }) => [name, plainValue(row[name], kind, false)]))));
  await tx.raw(`insert into ${quoted(table)} (${names}) select ${fields} from json_to_recordset(?::json) as row (${record}) ${conflict}`, [json]);
}

/** A text, number or boolean inside a JSON column, as text: `jsonText(db.read, 'payload', ['actor', 'name'])`. */
export function jsonText(db: Reader, column: string, path: string[]): Knex.Raw {
  if (dialectOf(db) === 'postgres') return db.raw('?? #>> ?::text[]', [column, path as unknown as string]);
  const at = `$${path.map((step) => `."${step.replaceAll('"', '')}"`).join('')}`;
  return db.raw("case json_type(??, ?) when 'true' then 'true' when 'false' then 'false' else cast(json_extract(??, ?) as text) end", [column, at, column, at]);
}

export interface KeysetColumn {
  column: string;
  direction: 'asc' | 'desc';
}

/** Orders a query and starts it after the row with these values. The columns are never null; the last one is unique. */
export function keysetAfter(query: Knex.QueryBuilder, order: KeysetColumn[], values: Knex.Value[] | null): void {
  query.orderBy(order.map(({ column, direction }) => ({ column, order: direction })));
  if (values === null) return;
  const directions = new Set(order.map(({ direction }) => direction));
  if (directions.size === 1) {
    // A comparison of rows is one range of the index on both databases.
    const columns = order.map(() => '??').join(', ');
    const marks = order.map(() => '?').join(', ');
    query.whereRaw(`(${columns}) ${sign(order[0]!)} (${marks})`, [...order.map(({ column }) => column), ...values]);
  } else {
    mixedAfter(query, order, values);
  }
}

function sign({ direction }: KeysetColumn): string {
  return direction === 'asc' ? '>' : '<';
}

/** `a >= x and (a > x or (a = x and b < y))`: the first condition keeps the range of the index. */
function mixedAfter(query: Knex.QueryBuilder, order: KeysetColumn[], values: Knex.Value[]): void {
  const [first, ...rest] = order;
  if (rest.length === 0) {
    query.where(first!.column, sign(first!), values[0]!);
    return;
  }
  query.where(first!.column, `${sign(first!)}=`, values[0]!).where((either) => {
    either.where(first!.column, sign(first!), values[0]!).orWhere((equal) => {
      equal.where(first!.column, values[0]!);
      mixedAfter(equal, rest, values.slice(1));
    });
  });
}

/** The time by the database's own clock, to compare with this machine's. */
export async function databaseNow(db: Reader): Promise<string> {
  const [row] = await db.raw(dialectOf(db) === 'sqlite' ? "select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now" : 'select clock_timestamp() as now');
  return row.now;
}

/** Takes internal keys for rows that are about to be inserted as a set, so that others may refer to them at once. */
export async function reserveKeys(tx: Tx, table: string, count: number): Promise<number[]> {
  if (count === 0) return [];
  if (dialectOf(tx) === 'postgres') {
    const rows: { key: number }[] = await tx.raw("select nextval(pg_get_serial_sequence(?, 'key')) as key from generate_series(1, ?)", [table, count]);
    return rows.map(({ key }) => Number(key));
  }
  // One process writes to SQLite, one write at a time.
  const last = await tx(table).max({ key: 'key' }).first();
  return Array.from({ length: count }, (_, index) => Number(last?.key ?? 0) + 1 + index);
}
