import { isId, problem, singleLine, type Reader, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import { checkedActors, entityReferences } from '../references.ts';
import { listChange, listList, listShown, newList, type List, type ListItem } from './schemas.ts';
import { addToCount, deleteItem, deleteItemsOf, insertItem, itemOf, itemsPage, listOfName, updateItem, type ItemRow, type ListRow } from './store.ts';

/** What routes, pages and tools do with lists. */
export interface Lists extends Records<ListRow, List> {
  /** Returns the id of the latest list with a name; undefined when there is none. */
  idOfName(reader: Reader, context: WorkspaceContext, name: string): Promise<string | undefined>;
  items(reader: Reader, context: WorkspaceContext, list: ListRow, page: { after: number | null; limit: number }): Promise<{ items: ListItem[]; next: number | null }>;
  item(reader: Reader, context: WorkspaceContext, list: ListRow, entityId: string): Promise<ListItem>;
  /** Adds an entry to a list that `rowToChange` returned in this transaction; `isNew` is false when the list has it already, which then stays as it is. */
  add(tx: Tx, context: WorkspaceContext, list: ListRow, given: { entity_id: string; note?: string | null }): Promise<{ item: ListItem; isNew: boolean }>;
  changeItem(tx: Tx, context: WorkspaceContext, list: ListRow, entityId: string, note: string | null): Promise<ListItem>;
  removeItem(tx: Tx, context: WorkspaceContext, list: ListRow, entityId: string): Promise<void>;
}

/** How many entries a list has in its own response; `/items` has all. */
const FIRST_ITEMS = 100;

export function createLists(workspaces: Workspaces): Lists {
  const { civic } = workspaces;
  const records = createRecords<ListRow, List>(workspaces, {
    name: 'lists',
    noun: 'list',
    param: 'list_id',
    table: 'workspaces_lists',
    unknown: 'unknown_list',
    schemas: { created: newList, changed: listChange, shown: listShown, list: listList },
    columns: async (_tx, _context, { name, description }, row) => ({ ...(name !== undefined && { name }), ...(description !== undefined && { description }), ...(!row && { item_count: 0 }) }),
    show: async (_reader, _context, rows) => rows.map(shownList),
    showOne: async (reader, context, row) => ({ ...shownList(row), items: await show(reader, context, await itemsPage(reader, row.key, { after: null, limit: FIRST_ITEMS })) }),
    removing: (tx, row) => deleteItemsOf(tx, row.key),
  });

  async function show(reader: Reader, context: WorkspaceContext, rows: ItemRow[]): Promise<ListItem[]> {
    const entity = await entityReferences(workspaces, reader, context, rows.map(({ entity_id }) => entity_id));
    return rows.map(({ entity_id, note, added_at, added_by }) => ({ entity_id, note, added_at, added_by, entity: entity(entity_id) }));
  }

  async function rowOf(reader: Reader, list: ListRow, entityId: string): Promise<ItemRow> {
    const row = isId(entityId) ? await itemOf(reader, list.key, entityId.toLowerCase()) : undefined;
    if (!row) throw problem('unknown_list_item', { detail: `The list has no entry with the id ${singleLine(entityId, 100)}.` });
    return row;
  }

  return {
    ...records,
    idOfName: (reader, { workspace }, name) => listOfName(reader, workspace.id, name),
    async items(reader, context, list, { after, limit }) {
      const rows = await itemsPage(reader, list.key, { after, limit: limit + 1 });
      return { items: await show(reader, context, rows.slice(0, limit)), next: rows.length > limit ? Number(rows[limit - 1]!.key) : null };
    },
    item: async (reader, context, list, entityId) => (await show(reader, context, [await rowOf(reader, list, entityId)]))[0]!,
    async add(tx, context, list, { entity_id, note = null }) {
      const [entityId] = await checkedActors(workspaces, tx, context, [entity_id]) as [string];
      const known = await itemOf(tx, list.key, entityId);
      if (known) return { item: (await show(tx, context, [known]))[0]!, isNew: false };
      const most = civic.config.max_list_items;
      if (Number(list.item_count) >= most) throw problem('list_full', { detail: `A list can have ${most} entries.` });
      const at = civic.clock.iso();
      const row = await insertItem(tx, { list_key: list.key, entity_id: entityId, note, added_at: at, added_by: context.caller.account_id });
      await addToCount(tx, list.key, 1, at);
      await workspaces.use(tx, context, 'record_writes');
      return { item: (await show(tx, context, [row]))[0]!, isNew: true };
    },
    async changeItem(tx, context, list, entityId, note) {
      await workspaces.use(tx, context, 'record_writes');
      const row = await updateItem(tx, (await rowOf(tx, list, entityId)).key, note);
      await addToCount(tx, list.key, 0, civic.clock.iso());
      return (await show(tx, context, [row]))[0]!;
    },
    async removeItem(tx, context, list, entityId) {
      await workspaces.use(tx, context, 'record_writes');
      await deleteItem(tx, (await rowOf(tx, list, entityId)).key);
      await addToCount(tx, list.key, -1, civic.clock.iso());
    },
  };
}

function shownList({ id, name, description, item_count, created_at, updated_at, created_by }: ListRow): List {
  return { id, name, description, item_count: Number(item_count), created_at, updated_at, created_by };
}
