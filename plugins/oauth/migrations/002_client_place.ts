import type { Schema } from 'civic';

/** How an app was connected, so that users can tell their connections apart. */
export async function up(schema: Schema): Promise<void> {
  // `website`, `program`, `app` or `device`; null in earlier connections.
  await schema.addColumns('oauth_grants', { client_place: 'text?' });
}
