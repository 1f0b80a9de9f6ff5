import type { Schema } from 'civic';

/** Adds the workspace to blocking keys, null for public actors, so that private actors do not count in the blocks of others. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('directory_blocks', { workspace_id: 'uuid?' });
  const own = schema.tx('directory_actors').whereRaw('directory_actors.key = directory_blocks.actor_key').select('workspace_id');
  await schema.tx('directory_blocks').whereIn('actor_key', schema.tx('directory_actors').whereNotNull('workspace_id').select('key')).update({ workspace_id: own as never });
}
