import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // One row for all windows of a subject: a single statement can then take from all of them or from none.
  await schema.createTable('ratelimit_counters', {
    subject: 'text',
    count_1: 'int', ends_1: 'bigint',
    count_2: 'int', ends_2: 'bigint',
    count_3: 'int', ends_3: 'bigint',
    // How many the latest statement was given: Postgres answers with nothing but what a row holds.
    granted: 'int',
  }, { primary: ['subject'], derived: true });

  await schema.createTable('ratelimit_days', {
    account_id: 'text',
    day: 'text',
    requests: 'int',
  }, { primary: ['account_id', 'day'], index: [['day']] });
}
