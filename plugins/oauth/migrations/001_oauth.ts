import type { Schema } from 'civic';

/** Clients, the connections that users approved, and what the authorization server issued. A secret is kept as its SHA-256 only. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('oauth_clients', {
    key: 'id',
    /** The client_id. */
    id: 'text',
    /** `registered`: by itself; `operator`: by hand. */
    kind: 'text',
    name: 'text?',
    metadata: 'json',
    secret_hash: 'text?',
    created_at: 'time',
    used_at: 'time?',
  }, { unique: [['id']], index: [['kind', 'created_at']] });

  // A connection of an app with one account in one workspace.
  await schema.createTable('oauth_grants', {
    key: 'id',
    id: 'uuid',
    account_id: 'uuid',
    workspace_id: 'uuid',
    client_id: 'text',
    client_name: 'text',
    /** Where the app lives: a host name, or null for an app on the user's own device. */
    client_host: 'text?',
    resource: 'text',
    scopes: 'json',
    created_at: 'time',
    expires_at: 'time',
    used_at: 'time?',
  }, { unique: [['id']], index: [['account_id', 'key'], ['client_id'], ['expires_at']] });

  // Codes, tokens and requests under way, as the library of the authorization server stores them.
  await schema.createTable('oauth_artifacts', {
    key: 'id',
    model: 'text',
    id_hash: 'text',
    payload: 'json',
    grant_id: 'uuid?',
    user_code_hash: 'text?',
    created_at: 'time',
    expires_at: 'time?',
    consumed_at: 'time?',
  }, { unique: [['model', 'id_hash'], ['user_code_hash']], index: [['grant_id'], ['expires_at']] });

  // The keys that sign ID tokens, encrypted with a secret that is not in the database.
  await schema.createTable('oauth_keys', {
    key: 'id',
    kid: 'text',
    sealed: 'text',
    created_at: 'time',
  }, { unique: [['kid']] });
}
