import type { Schema } from 'civic';

/** Contacts of people that are hidden for a time, until a reviewer has checked a report. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_holds', { key: 'id', id: 'uuid', record_key: 'bigint', ends_at: 'time', created_at: 'time' }, {
    unique: [['id'], ['record_key']], index: [['ends_at']], references: { record_key: 'directory_records.key' },
  });
  // The claims that a hold hides, with the status that they get back.
  await schema.createTable('directory_held_claims', { claim_key: 'bigint', hold_key: 'bigint', status: 'text' }, {
    primary: ['claim_key'], index: [['hold_key']], references: { claim_key: 'directory_claims.key', hold_key: 'directory_holds.key' },
  });
}
