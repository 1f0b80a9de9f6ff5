import type { Reader, Tx } from 'civic';
import type { RecordRow } from '../records/store.ts';

export interface ListRow extends RecordRow {
  name: string;
  description: string | null;
  item_count: number;
}

export interface ItemRow {
  key: number;
  list_key: number;
  entity_id: string;
  note: string | null;
  added_at: string;
  added_by: string;
}

export async function insertItem(tx: Tx, row: Omit<ItemRow, 'key'>): Promise<ItemRow> {
  const [inserted] = (await tx('workspaces_list_items').insert(row).returning('*')) as ItemRow[];
  return inserted!;
}

export async function insertItems(tx: Tx, rows: Omit<ItemRow, 'key'>[]): Promise<void> {
  await tx('workspaces_list_items').insert(rows);
}

/** Returns which of these entries a list has. */
export async function itemsAmong(reader: Reader, listKey: number, entityIds: string[]): Promise<Set<string>> {
  return new Set((await reader('workspaces_list_items').where({ list_key: listKey }).whereIn('entity_id', entityIds).pluck('entity_id')) as string[]);
}

/** Changes the number of items of a list, whose row the transaction has locked. */
export async function addToCount(tx: Tx, listKey: number, added: number, at: string): Promise<void> {
  await tx('workspaces_lists').where({ key: listKey }).update({ item_count: tx.raw('item_count + ?', [added]), updated_at: at });
}

export async function itemOf(reader: Reader, listKey: number, entityId: string): Promise<ItemRow | undefined> {
  return reader('workspaces_list_items').where({ list_key: listKey, entity_id: entityId }).first() as Promise<ItemRow | undefined>;
}

export async function itemsPage(reader: Reader, listKey: number, page: { after: number | null; limit: number }): Promise<ItemRow[]> {
  const query = reader('workspaces_list_items').where({ list_key: listKey }).orderBy('key').limit(page.limit);
  return (page.after === null ? query : query.where('key', '>', page.after)) as unknown as Promise<ItemRow[]>;
}

export async function updateItem(tx: Tx, key: number, note: string | null): Promise<ItemRow> {
  const [row] = (await tx('workspaces_list_items').where({ key }).update({ note }).returning('*')) as ItemRow[];
  return row!;
}

export async function deleteItem(tx: Tx, key: number): Promise<void> {
  await tx('workspaces_list_items').where({ key }).delete();
}

export async function deleteItemsOf(tx: Tx, listKey: number): Promise<void> {
  await tx('workspaces_list_items').where({ list_key: listKey }).delete();
}

/** Returns which lists of a workspace have an entry. */
export async function listsWith(reader: Reader, workspaceId: string, entityId: string): Promise<string[]> {
  const rows = (await reader('workspaces_list_items').join('workspaces_lists', 'workspaces_lists.key', 'workspaces_list_items.list_key')
    .where({ workspace_id: workspaceId, entity_id: entityId }).select('workspaces_lists.id')) as { id: string }[];
  return rows.map(({ id }) => id);
}

export async function listOfName(reader: Reader, workspaceId: string, name: string): Promise<string | undefined> {
  const row = (await reader('workspaces_lists').where({ workspace_id: workspaceId, name }).orderBy('key', 'desc').first('id')) as { id: string } | undefined;
  return row?.id;
}
