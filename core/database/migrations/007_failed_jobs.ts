import type { Schema } from '../types.ts';

/** Failed jobs are few among the finished ones, and the console lists them. */
export async function up(schema: Schema): Promise<void> {
  const statement = `create index core_jobs_failed on core_jobs (finished_at) where state = 'failed'`;
  await schema.raw({ sqlite: statement, postgres: statement });
}
