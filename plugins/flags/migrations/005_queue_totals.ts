import type { Schema } from 'civic';

/** How many targets and reports the queue has, so that its pages count no rows; with an empty place for all places. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('flags_queue_totals', { place_key: 'text', state: 'text', target_type: 'text', severity: 'int', targets: 'bigint', reports: 'bigint' }, {
    primary: ['place_key', 'state', 'target_type', 'severity'],
    derived: true,
  });
}
