import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // A member of a workspace who has watches there: how mails and the private feed reach them.
  await schema.createTable('workspaces_subscribers', {
    key: 'id',
    workspace_id: 'uuid',
    account_id: 'uuid',
    language: 'text',
    time_zone: 'text',
    digest_hour: 'int',
    has_mail: 'bool',
    // SHA-256 of the secret in the address of the feed.
    feed_hash: 'text?',
    feed_created_at: 'time?',
    // When mails are due, and the last entry of the log that each kind of mail covered.
    digest_due_at: 'time?',
    digest_seq: 'bigint',
    alert_due_at: 'time?',
    alert_seq: 'bigint',
    alerted_at: 'time?',
    created_at: 'time',
  }, { unique: [['workspace_id', 'account_id'], ['feed_hash']], index: [['digest_due_at'], ['alert_due_at']] });

  await schema.createTable('workspaces_watches', {
    key: 'id',
    id: 'uuid',
    workspace_id: 'uuid',
    subscriber_key: 'bigint',
    target_type: 'text',
    target_id: 'text?',
    query: 'json?',
    // The part of a query that the keys do not decide.
    compared: 'json?',
    target_hash: 'text',
    delivery: 'text',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'uuid',
  }, { unique: [['id'], ['subscriber_key', 'target_hash']], index: [['workspace_id', 'key'], ['target_type', 'target_id']], references: { subscriber_key: 'workspaces_subscribers.key' } });

  // A signal finds its watches by subject, issue area and type; an empty text stands for any.
  await schema.createTable('workspaces_watch_keys', { subject: 'text', issue: 'text', type: 'text', watch_key: 'bigint' }, {
    primary: ['subject', 'issue', 'type', 'watch_key'], index: [['watch_key']], references: { watch_key: 'workspaces_watches.key' },
  });

  await schema.createTable('workspaces_deliveries', {
    subscriber_key: 'bigint',
    // The entry of the log of signals.
    seq: 'bigint',
    workspace_id: 'uuid',
    signal_id: 'uuid',
    is_update: 'bool',
    watch_keys: 'json',
    at: 'time',
  }, { primary: ['subscriber_key', 'seq'], index: [['workspace_id', 'seq'], ['signal_id'], ['at']], references: { subscriber_key: 'workspaces_subscribers.key' } });

  // The last entry of the log that was compared with the watches.
  await schema.createTable('workspaces_position', { id: 'int', seq: 'bigint' }, { primary: ['id'] });

  // Each mail has a link of its own that ends mails.
  await schema.createTable('workspaces_unsubscribes', { hash: 'text', subscriber_key: 'bigint', created_at: 'time' }, {
    primary: ['hash'], index: [['created_at']], references: { subscriber_key: 'workspaces_subscribers.key' },
  });
}
