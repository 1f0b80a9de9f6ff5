import type { Schema } from 'civic';

/** By what actors that may be one find each other: a number for each blocking key, see matching/block.ts. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_blocks', { block: 'bigint', actor_key: 'bigint' }, { primary: ['block', 'actor_key'], index: [['actor_key']], derived: true });
}
