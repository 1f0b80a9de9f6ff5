import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('chores_chores', { key: 'id', id: 'uuid', done: 'int' }, { unique: [['id']] });
  await schema.createTable('chores_runs', { key: 'id', chore: 'uuid', process: 'int', attempt: 'int', begun_at: 'time', ended_at: 'time?' }, { index: [['chore']] });
}
