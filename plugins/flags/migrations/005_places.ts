import type { Schema } from 'civic';

const INDEX = ['target_type', 'target_id', 'status', 'suspicion', 'flag_type', 'created_at', 'key'];

/** Flags of places have the place key as their target, so the column becomes text; and the actors that cite a source with a signal. */
export async function up(schema: Schema): Promise<void> {
  await schema.dropIndex('flags_flags', INDEX);
  await schema.addColumns('flags_flags', { target: 'text?' });
  await schema.raw({ sqlite: 'update flags_flags set target = target_id', postgres: 'update flags_flags set target = target_id::text' });
  await schema.dropColumn('flags_flags', 'target_id');
  await schema.addColumns('flags_flags', { target_id: 'text?' });
  await schema.raw({ sqlite: 'update flags_flags set target_id = target', postgres: 'update flags_flags set target_id = target' });
  await schema.dropColumn('flags_flags', 'target');
  await schema.addIndex('flags_flags', INDEX);
  // While one of these actors cites the source of the flag, the source is public.
  await schema.createTable('flags_signal_actors', { actor_id: 'uuid', flag_key: 'bigint' }, { primary: ['actor_id', 'flag_key'], index: [['flag_key']], references: { flag_key: 'flags_flags.key' } });
}
