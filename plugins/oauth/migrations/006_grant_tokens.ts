import type { Schema } from 'civic';

/** The valid tokens of a connection, which the sweep counts for each connection. */
export async function up(schema: Schema): Promise<void> {
  await schema.addIndex('oauth_artifacts', ['grant_id', 'expires_at']);
  await schema.dropIndex('oauth_artifacts', ['grant_id']);
}
