import type { Schema } from 'civic';

/** The ledger: who is known, what is said of them, by which source. Everything else is worked out from it. */
export async function up(schema: Schema): Promise<void> {
  // A record as it was entered. Records that are one actor share `actor_key`, the key of the oldest of them.
  await schema.createTable('directory_records', {
    key: 'id',
    id: 'uuid',
    actor_key: 'bigint',
    slug: 'text',
    visibility: 'text',
    workspace_id: 'uuid?',
    created_at: 'time',
    updated_at: 'time',
    deleted_at: 'time?',
  }, { unique: [['id']], index: [['actor_key']] });

  await schema.createTable('directory_sources', {
    key: 'id',
    id: 'uuid',
    url: 'text',
    title: 'text?',
    publication: 'text?',
    kind: 'text',
    published_at: 'time?',
    retrieved_at: 'time',
    excerpt: 'text?',
    content_hash: 'text?',
    archived: 'bool',
    url_status: 'text',
    last_checked_at: 'time?',
  }, { unique: [['id'], ['url']] });

  // Claims are found by their record, and by id only within it: a further index would cost more than the claim.
  await schema.createTable('directory_claims', {
    key: 'id',
    id: 'uuid',
    record_key: 'bigint',
    source_key: 'bigint',
    property: 'text',
    value: 'text',
    rank: 'text',
    confidence: 'real',
    method: 'text',
    excerpt: 'text?',
    locator_start: 'int?',
    locator_end: 'int?',
    first_seen_at: 'time',
    last_seen_at: 'time',
    expires_at: 'time?',
    status: 'text',
  }, { index: [['record_key', 'source_key'], ['source_key', 'record_key']] });

  // Pairs of records; with the verdict `same` the left one has joined the right one. A deleted judgement stays.
  await schema.createTable('directory_judgements', {
    key: 'id',
    id: 'uuid',
    left_key: 'bigint',
    right_key: 'bigint',
    verdict: 'text',
    reason: 'text?',
    score: 'real?',
    by_kind: 'text',
    account_id: 'uuid?',
    at: 'time',
    deleted_at: 'time?',
  }, { unique: [['id']], index: [['left_key', 'right_key'], ['right_key']] });

  await schema.createTable('directory_changes', {
    key: 'id',
    record_key: 'bigint',
    at: 'time',
    action: 'text',
    by_kind: 'text',
    account_id: 'uuid?',
    detail: 'json',
  }, { index: [['record_key', 'key']] });

  // The same thing in another system, so that a second import finds the record of the first.
  await schema.createTable('directory_origins', { origin: 'text', record_key: 'bigint' }, { primary: ['origin'], index: [['record_key']] });
}
