import type { Schema } from 'civic';

/** When a workspace was deleted. The row stays without its name, because keys and the audit record refer to it. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('accounts_workspaces', { deleted_at: 'time?' });
}
