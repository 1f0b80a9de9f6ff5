import type { Schema } from 'civic';

/** What was told of the directory, so that it is told once and taken back when its actor is deleted. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('firehose_told', { subject_id: 'uuid', signal_id: 'uuid', type: 'text', audience: 'text', at: 'time' }, { primary: ['subject_id', 'signal_id'], index: [['at']] });
  // How far a job is, and which gaps in the coverage were told.
  await schema.createTable('firehose_marks', { name: 'text', value: 'text', at: 'time' }, { primary: ['name'] });
  // The signals of the invented region.
  await schema.createTable('firehose_demo', { signal_id: 'uuid' }, { primary: ['signal_id'] });
}
