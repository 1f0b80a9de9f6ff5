import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // How many records of each kind a workspace has: writers wait for each other here, so that none exceeds a limit.
  await schema.createTable('workspaces_totals', { workspace_id: 'uuid', kind: 'text', total: 'bigint' }, { primary: ['workspace_id', 'kind'] });

  await schema.createTable('workspaces_lists', {
    key: 'id',
    id: 'uuid',
    workspace_id: 'uuid',
    name: 'text',
    description: 'text?',
    item_count: 'int',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid',
  }, { unique: [['id']], index: [['workspace_id', 'key']] });

  await schema.createTable('workspaces_list_items', {
    key: 'id',
    list_key: 'bigint',
    // The id as it was given: an entry that is merged or deleted later keeps its place in the list.
    entity_id: 'uuid',
    note: 'text?',
    added_at: 'time',
    added_by: 'uuid',
  }, { unique: [['list_key', 'entity_id']], index: [['list_key', 'key'], ['entity_id']], references: { list_key: 'workspaces_lists.key' } });
}
