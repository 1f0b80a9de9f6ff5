import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('firehose_sessions', {
    key: 'id',
    id: 'text',
    // The workspace it belongs to, or the account of somebody who has none.
    owner_id: 'uuid',
    // Who made it, and whose plan it counts against.
    account_id: 'uuid',
    query: 'text',
    fingerprint: 'text',
    mode: 'text',
    // The event that consumers without an id continue after.
    epoch: 'text?',
    seq: 'bigint?',
    // Whether a consumer said so; else it is where the session began.
    said: 'bool',
    created_at: 'time',
    last_seen_at: 'time',
  }, { unique: [['id']], index: [['owner_id', 'key'], ['account_id'], ['last_seen_at']] });

  await schema.createTable('firehose_tickets', {
    key: 'id',
    secret_hash: 'text',
    session_key: 'bigint',
    // Whose key it stands for.
    account_id: 'uuid',
    credential_id: 'text',
    workspace_id: 'uuid',
    expires_at: 'time',
    // Set by the first stream that came with it.
    bound_at: 'time?',
  }, { unique: [['secret_hash']], index: [['session_key'], ['expires_at']], references: { session_key: 'firehose_sessions.key' } });
}
