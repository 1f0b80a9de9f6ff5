import type { Schema } from '../types.ts';

export async function up(schema: Schema): Promise<void> {
  // Said of this database, not of what it holds: no part of a backup.
  await schema.createTable('core_restored', { plugin: 'text' }, { primary: ['plugin'], derived: true });
}
