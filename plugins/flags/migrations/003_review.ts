import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Each decision on a flag and each undo. Decisions that were made together have one batch.
  await schema.createTable('flags_steps', {
    key: 'id',
    id: 'uuid',
    batch: 'uuid',
    flag_key: 'bigint',
    action: 'text',
    from_status: 'text',
    to_status: 'text',
    note: 'text?',
    // JSON: what the directory needs to undo the edit of the decision.
    edit: 'text?',
    // JSON: the columns of the flag that an undo restores.
    before: 'text',
    account_id: 'uuid?',
    at: 'time',
    undone_at: 'time?',
  }, { unique: [['id']], index: [['flag_key', 'key'], ['account_id', 'key'], ['batch']], references: { flag_key: 'flags_flags.key' } });

  // The review queue: one row for each target and state of its flags, for each of its places, and one with an empty place for all places.
  await schema.createTable('flags_queue', {
    place_key: 'text',
    state: 'text',
    rank: 'bigint',
    target_type: 'text',
    target_id: 'text',
    severity: 'int',
    // A bit for each type of flag.
    types: 'int',
    reports: 'int',
    first_at: 'time',
    // The flag that the queue shows.
    lead_key: 'bigint',
  }, {
    primary: ['target_type', 'target_id', 'state', 'place_key'],
    index: [['place_key', 'state', 'rank', 'target_id', 'severity', 'target_type', 'types', 'first_at', 'reports']],
    derived: true,
  });

  // Counts the flags of a target without reading their rows.
  await schema.addIndex('flags_flags', ['target_type', 'target_id', 'status', 'suspicion', 'flag_type', 'created_at', 'key']);
  await schema.dropIndex('flags_flags', ['target_type', 'target_id', 'status']);
}
