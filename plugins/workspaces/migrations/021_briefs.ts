import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('workspaces_briefs', {
    key: 'id',
    id: 'uuid',
    workspace_id: 'uuid',
    title: 'text',
    summary_md: 'text',
    // JSON lists, in the order that the author chose.
    places: 'json',
    issue_areas: 'json',
    entity_ids: 'json',
    source_ids: 'json',
    run_ids: 'json',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid',
  }, { unique: [['id']], index: [['workspace_id', 'key']] });
}
