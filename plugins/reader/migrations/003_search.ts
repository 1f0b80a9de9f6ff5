import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Pages that can be searched, and for whom: a workspace, or `public` for everybody.
  await schema.createTable('reader_indexed', {
    key: 'id',
    owner: 'text',
    url: 'text',
    content_hash: 'text',
    title: 'text?',
    read_at: 'time',
    // Null until the words of the content are in the index.
    indexed_at: 'time?',
  }, { unique: [['owner', 'url']], index: [['read_at'], ['indexed_at'], ['content_hash']] });
  await schema.createSearchIndex('reader_search');
}
