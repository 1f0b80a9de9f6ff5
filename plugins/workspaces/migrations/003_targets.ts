import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('workspaces_targets', {
    key: 'id',
    id: 'uuid',
    workspace_id: 'uuid',
    place_key: 'text',
    issue_areas: 'json',
    wanted: 'int',
    note: 'text?',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid',
  }, { unique: [['id']], index: [['workspace_id', 'key'], ['place_key']] });
}
