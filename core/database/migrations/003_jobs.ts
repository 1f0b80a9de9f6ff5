import type { Schema } from '../types.ts';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('core_jobs', {
    key: 'id',
    id: 'uuid',
    name: 'text',
    payload: 'json',
    state: 'text',
    priority: 'int',
    run_at: 'time',
    unique_key: 'text?',
    attempts: 'int',
    max_attempts: 'int',
    lease_seconds: 'int',
    token: 'uuid?',
    lease_until: 'time?',
    cancel_requested: 'bool',
    phase: 'text?',
    done: 'bigint',
    total: 'bigint',
    error: 'text?',
    created_at: 'time',
    finished_at: 'time?',
  }, { unique: [['id']] });

  await index(schema, 'core_jobs_pending', `on core_jobs (priority desc, run_at, key) where state = 'pending'`);
  await index(schema, 'core_jobs_running', `on core_jobs (lease_until) where state = 'running'`);
  await index(schema, 'core_jobs_finished', `on core_jobs (finished_at) where finished_at is not null`);
  // One waiting or running job for a key; finished ones do not count.
  await index(schema, 'core_jobs_unique', `on core_jobs (name, unique_key) where unique_key is not null and state in ('pending', 'running')`, 'unique index');

  await schema.createTable('core_job_schedules', { name: 'text', next_at: 'time' }, { primary: ['name'] });
}

async function index(schema: Schema, name: string, definition: string, kind = 'index'): Promise<void> {
  const statement = `create ${kind} ${name} ${definition}`;
  await schema.raw({ sqlite: statement, postgres: statement });
}
