import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('flags_flags', {
    key: 'id',
    id: 'uuid',
    receipt: 'text',
    target_type: 'text',
    target_id: 'uuid',
    // The statement of an actor that the flag is about.
    claim_id: 'uuid?',
    flag_type: 'text',
    reason: 'text',
    // Of the folded reason, to find the same text on many targets.
    reason_hash: 'text',
    account_id: 'uuid?',
    // Names the account, the target and the type while the flag of an account is open: one such flag can be open at a time.
    open_key: 'text?',
    status: 'text',
    // Why the flag may be spam; null when nothing indicates it.
    suspicion: 'text?',
    note: 'text?',
    decided_by: 'uuid?',
    decided_at: 'time?',
    // The signal that announced the resolution.
    signal_id: 'uuid?',
    created_at: 'time',
    updated_at: 'time',
  }, { unique: [['id'], ['receipt'], ['open_key']], index: [['status', 'key'], ['flag_type', 'key'], ['target_type', 'target_id', 'status'], ['reason_hash', 'created_at']] });
  await schema.createTable('flags_places', { place_key: 'text', flag_key: 'bigint' }, { primary: ['place_key', 'flag_key'], index: [['flag_key']], references: { flag_key: 'flags_flags.key' } });
}
