import type { Schema } from 'civic';

/** What workspaces used. Each line has the hash of the line before it, by workspace. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('workspaces_usage', {
    workspace_id: 'uuid',
    seq: 'bigint',
    at: 'time',
    meter: 'text',
    amount: 'bigint',
    actor: 'uuid',
    via: 'text',
    prev_hash: 'text',
    hash: 'text',
  }, { primary: ['workspace_id', 'seq'] });

  // The last line of each workspace, sealed with a key outside the database. It stays when the workspace is deleted.
  await schema.createTable('workspaces_usage_heads', {
    workspace_id: 'uuid',
    seq: 'bigint',
    hash: 'text',
    seal: 'text?',
    deleted_at: 'time?',
  }, { primary: ['workspace_id'] });

  // How much of each meter a workspace used in a month.
  await schema.createTable('workspaces_usage_months', { workspace_id: 'uuid', month: 'text', meter: 'text', amount: 'bigint' }, { primary: ['workspace_id', 'month', 'meter'] });
}
