import type { Schema } from 'civic';

/** The holds of contacts that privacy flags began. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('flags_holds', {
    key: 'id',
    // Of the directory, which ends it.
    hold_id: 'uuid',
    flag_key: 'bigint',
    actor_id: 'uuid',
    // Of the account or the network of the reporter, for a day.
    reporter_hash: 'text?',
    at: 'time',
  }, { index: [['flag_key'], ['actor_id', 'at'], ['reporter_hash', 'at'], ['at']], references: { flag_key: 'flags_flags.key' } });
}
