import type { Schema } from '../types.ts';

/** The version with which each set of derived tables was filled. Derived itself: a restored database has no filled tables. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('core_read_models', {
    plugin: 'text',
    name: 'text',
    // Of the rows; null when they were never filled.
    version: 'int?',
    // What the newest start wants; equal to the version when no rebuild is due.
    target: 'int',
    // False while the start that fills them has not finished.
    complete: 'bool',
  }, { primary: ['plugin', 'name'], derived: true });
  await schema.dropTable('core_restored');
}
