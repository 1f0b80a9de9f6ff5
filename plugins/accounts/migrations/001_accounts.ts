import type { Schema } from 'civic';

/** Who is known, what they belong to, and how they prove it. A secret is kept as its SHA-256 only. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('accounts_people', {
    key: 'id',
    id: 'uuid',
    name: 'text',
    email: 'text?',
    /** As addresses are compared: two accounts never share one. */
    email_folded: 'text?',
    role: 'text',
    plan: 'text',
    plan_until: 'time?',
    created_at: 'time',
    disabled_at: 'time?',
  }, { unique: [['id'], ['email_folded']] });

  await schema.createTable('accounts_workspaces', {
    key: 'id',
    id: 'uuid',
    name: 'text',
    personal_of: 'bigint?',
    created_at: 'time',
  }, { unique: [['id'], ['personal_of']], references: { personal_of: 'accounts_people.key' } });

  await schema.createTable('accounts_members', {
    workspace_key: 'bigint',
    account_key: 'bigint',
    role: 'text',
    since: 'time',
  }, { primary: ['workspace_key', 'account_key'], index: [['account_key']], references: { workspace_key: 'accounts_workspaces.key', account_key: 'accounts_people.key' } });

  await schema.createTable('accounts_invitations', {
    key: 'id',
    id: 'uuid',
    workspace_key: 'bigint',
    role: 'text',
    secret_hash: 'text',
    created_by: 'bigint',
    created_at: 'time',
    expires_at: 'time',
    used_at: 'time?',
  }, { unique: [['id'], ['secret_hash']], index: [['workspace_key', 'key']], references: { workspace_key: 'accounts_workspaces.key', created_by: 'accounts_people.key' } });

  await schema.createTable('accounts_keys', {
    key: 'id',
    id: 'text',
    account_key: 'bigint',
    workspace_key: 'bigint',
    name: 'text',
    secret_hash: 'text',
    scopes: 'json',
    created_at: 'time',
    expires_at: 'time?',
    revoked_at: 'time?',
    last_used_at: 'time?',
  }, { unique: [['id']], index: [['account_key', 'key']], references: { account_key: 'accounts_people.key', workspace_key: 'accounts_workspaces.key' } });

  await schema.createTable('accounts_sessions', {
    key: 'id',
    id: 'uuid',
    account_key: 'bigint',
    secret_hash: 'text',
    made_by: 'text',
    created_at: 'time',
    seen_at: 'time',
    expires_at: 'time',
    ended_at: 'time?',
    address: 'text?',
    agent: 'text?',
    /** The workspace chosen in this session. */
    workspace_key: 'bigint?',
  }, { unique: [['id'], ['secret_hash']], index: [['account_key', 'key'], ['expires_at']], references: { account_key: 'accounts_people.key', workspace_key: 'accounts_workspaces.key' } });

  await schema.createTable('accounts_links', {
    secret_hash: 'text',
    /** Null in a link for the first administrator. */
    account_key: 'bigint?',
    created_at: 'time',
    expires_at: 'time',
    used_at: 'time?',
  }, { primary: ['secret_hash'], index: [['account_key'], ['expires_at']], references: { account_key: 'accounts_people.key' } });

  await schema.createTable('accounts_passkeys', {
    key: 'id',
    /** The credential's own id, base64url. */
    id: 'text',
    account_key: 'bigint',
    public_key: 'blob',
    counter: 'bigint',
    transports: 'json',
    name: 'text',
    created_at: 'time',
    used_at: 'time?',
  }, { unique: [['id']], index: [['account_key', 'key']], references: { account_key: 'accounts_people.key' } });

  await schema.createTable('accounts_recovery_codes', {
    secret_hash: 'text',
    account_key: 'bigint',
    created_at: 'time',
    used_at: 'time?',
  }, { primary: ['secret_hash'], index: [['account_key']], references: { account_key: 'accounts_people.key' } });

  // A passkey ceremony under way: its challenge is answered once, within minutes.
  await schema.createTable('accounts_ceremonies', {
    id: 'uuid',
    kind: 'text',
    account_key: 'bigint?',
    challenge: 'text',
    expires_at: 'time',
  }, { primary: ['id'], index: [['expires_at']], references: { account_key: 'accounts_people.key' } });

  // Every row holds the hash of the one before, so that none can be changed or taken out unnoticed.
  await schema.createTable('accounts_audit', {
    seq: 'bigint',
    at: 'time',
    kind: 'text',
    account_id: 'uuid?',
    workspace_id: 'uuid?',
    subject: 'text?',
    detail: 'json',
    address: 'text?',
    prev_hash: 'text',
    hash: 'text',
  }, { primary: ['seq'], index: [['workspace_id', 'seq'], ['account_id', 'seq'], ['subject', 'seq']] });

  // The last row's number and hash: writers wait for each other here, and a cut-off end is noticed.
  await schema.createTable('accounts_audit_head', { name: 'text', seq: 'bigint', hash: 'text' }, { primary: ['name'] });
}
