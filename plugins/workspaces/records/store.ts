import type { Reader, Tx } from 'civic';

/** The columns that the tables of all kinds of records have. */
export interface RecordRow {
  key: number;
  id: string;
  workspace_id: string;
  created_at: string;
  updated_at: string;
  created_by: string;
}

/** Values that rows must have, by column. A list matches any of its values. */
export type Filters = Record<string, string | string[] | undefined>;

/**
 * Adds to the number of records of a kind and returns it. The row stays locked until the transaction ends, so that requests at the same
 * time cannot exceed a limit together.
 */
export async function addToTotal(tx: Tx, workspaceId: string, kind: string, added: number): Promise<number> {
  const [row] = (await tx('workspaces_totals').insert({ workspace_id: workspaceId, kind, total: added })
    .onConflict(['workspace_id', 'kind']).merge({ total: tx.raw('workspaces_totals.total + excluded.total') }).returning('total')) as { total: number | string }[];
  return Number(row!.total);
}

export async function insertRecord<Row extends RecordRow>(tx: Tx, table: string, row: Omit<Row, 'key'>): Promise<Row> {
  const [inserted] = (await tx(table).insert(row).returning('*')) as Row[];
  return inserted!;
}

export async function recordById<Row extends RecordRow>(reader: Reader, table: string, workspaceId: string, id: string): Promise<Row | undefined> {
  return reader(table).where({ workspace_id: workspaceId, id }).first() as Promise<Row | undefined>;
}

/** Locks the row, so that two changes do not overlap; SQLite has one writer anyway. */
export async function recordToChange<Row extends RecordRow>(tx: Tx, table: string, workspaceId: string, id: string): Promise<Row | undefined> {
  return tx(table).where({ workspace_id: workspaceId, id }).forUpdate().first() as Promise<Row | undefined>;
}

export async function updateRecord<Row extends RecordRow>(tx: Tx, table: string, key: number, values: Partial<Row>): Promise<Row> {
  const [row] = (await tx(table).where({ key }).update(values).returning('*')) as Row[];
  return row!;
}

export async function deleteRecord(tx: Tx, table: string, key: number): Promise<void> {
  await tx(table).where({ key }).delete();
}

function matching(reader: Reader, table: string, workspaceId: string, filters: Filters) {
  const query = reader(table).where({ workspace_id: workspaceId });
  for (const [column, value] of Object.entries(filters)) if (value !== undefined) query.whereIn(column, [value].flat().map((one) => one.toLowerCase()));
  return query;
}

/** Returns a page of records, the latest first. */
export async function recordsPage<Row extends RecordRow>(reader: Reader, table: string, workspaceId: string, filters: Filters, page: { before: number | null; limit: number }): Promise<Row[]> {
  const query = matching(reader, table, workspaceId, filters).orderBy('key', 'desc').limit(page.limit);
  return (page.before === null ? query : query.where('key', '<', page.before)) as unknown as Promise<Row[]>;
}

export async function countRecords(reader: Reader, table: string, workspaceId: string, filters: Filters = {}): Promise<number> {
  return Number((await matching(reader, table, workspaceId, filters).count({ count: '*' }).first())!.count);
}

/** The tables of records, those that others refer to last. */
const TABLES = ['workspaces_briefs', 'workspaces_notes', 'workspaces_targets', 'workspaces_reviews', 'workspaces_lists', 'workspaces_totals'];

/** Deletes all records of a workspace. */
export async function forgetRecords(tx: Tx, workspaceId: string): Promise<void> {
  await tx('workspaces_list_items').whereIn('list_key', tx('workspaces_lists').where({ workspace_id: workspaceId }).select('key')).delete();
  for (const table of TABLES) await tx(table).where({ workspace_id: workspaceId }).delete();
}
