import type { Schema } from '../types.ts';

/** Adds the times of jobs that run by key: one row for each key, so that there may be thousands. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('core_job_dues', { name: 'text', key: 'text', next_at: 'time', every_seconds: 'int' }, { primary: ['name', 'key'], index: [['name', 'next_at']] });
}
