import type { Schema } from 'civic';

/** How often a refresh token was used: within the grace period it has a limited number of successors. */
export async function up(schema: Schema): Promise<void> {
  // Null in tokens that were used before this was stored.
  await schema.addColumns('oauth_artifacts', { uses: 'int?' });
}
