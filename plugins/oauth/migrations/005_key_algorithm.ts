import type { Schema } from 'civic';

/** The algorithm of each signing key: OpenID Connect requires RS256 besides ES256. */
export async function up(schema: Schema): Promise<void> {
  // Null in earlier keys, which are for ES256.
  await schema.addColumns('oauth_keys', { alg: 'text?' });
}
