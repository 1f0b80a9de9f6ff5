import type { Schema } from 'civic';

/** The membership in which a user approved a connection: a later membership in the same workspace does not restore its access. */
export async function up(schema: Schema): Promise<void> {
  // Null in earlier connections.
  await schema.addColumns('oauth_grants', { member_since: 'time?' });
}
