import type { Schema } from 'civic';

/** Seals of audit rows, and how far the record was streamed. Earlier rows have no seal: the first sealed row covers them. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('accounts_audit', { seal: 'text?' });
  await schema.createTable('accounts_audit_stream', { target: 'text', seq: 'bigint' }, { primary: ['target'] });
}
