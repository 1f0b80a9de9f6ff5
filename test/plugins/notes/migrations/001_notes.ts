import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createTable('notes_notes', { key: 'id', id: 'uuid', text: 'text', created_at: 'time' }, { unique: [['id']], index: [['created_at']] });
}
