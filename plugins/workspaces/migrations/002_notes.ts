import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('workspaces_notes', {
    key: 'id',
    id: 'uuid',
    workspace_id: 'uuid',
    // Both are null for a note about nothing in particular. The id of a place is its key.
    target_type: 'text?',
    target_id: 'text?',
    text: 'text',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid',
  }, { unique: [['id']], index: [['workspace_id', 'key'], ['workspace_id', 'target_type', 'target_id', 'key']] });
}
