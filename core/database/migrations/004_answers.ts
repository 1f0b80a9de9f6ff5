import type { Schema } from '../types.ts';

/** First answers to requests with an Idempotency-Key, kept for a day to be given again; no backup needs them. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('core_answers', {
    caller: 'text',
    route: 'text',
    idempotency_key: 'text',
    token: 'uuid',
    body_hash: 'text',
    answer: 'json?',
    begun_at: 'time',
  }, { primary: ['caller', 'route', 'idempotency_key'], index: [['begun_at']], derived: true });
}
