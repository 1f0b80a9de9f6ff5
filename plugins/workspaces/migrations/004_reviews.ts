import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('workspaces_reviews', {
    key: 'id',
    id: 'uuid',
    workspace_id: 'uuid',
    target_type: 'text',
    target_id: 'uuid',
    status: 'text',
    note: 'text?',
    // Who set the status, and when.
    decided_by: 'uuid',
    decided_at: 'time',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid',
  }, { unique: [['id'], ['workspace_id', 'target_type', 'target_id']], index: [['workspace_id', 'key'], ['workspace_id', 'status', 'key']] });
}
