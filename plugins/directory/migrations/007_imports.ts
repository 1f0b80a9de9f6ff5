import type { Schema } from 'civic';

/** Imports: how far each came, so that one that was cut short goes on from there, and what it made of its rows. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_imports', {
    key: 'id',
    id: 'uuid',
    // Of the file's content and of the settings that change what is made of it.
    fingerprint: 'text',
    format: 'text',
    path: 'text',
    rejects_path: 'text',
    source_url: 'text?',
    timezone: 'text?',
    visibility: 'text',
    account_id: 'uuid?',
    workspace_id: 'uuid?',
    may_change_public: 'bool',
    // Whether new actors are joined with those that are surely the same.
    joins: 'bool',
    state: 'text',
    // Rows that are done; the bytes of the file they took, and of the file of rejected rows.
    position: 'bigint',
    bytes_done: 'bigint',
    bytes_total: 'bigint',
    rejects_bytes: 'bigint',
    created: 'bigint',
    updated: 'bigint',
    unchanged: 'bigint',
    rejected: 'bigint',
    joined: 'bigint',
    noted: 'bigint',
    // The first ones: `{ faults: [], notes: [] }`.
    report: 'json',
    error: 'text?',
    created_at: 'time',
    started_at: 'time?',
    finished_at: 'time?',
  }, { unique: [['id']], index: [['fingerprint'], ['finished_at']] });
}
