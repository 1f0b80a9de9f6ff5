import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // One copy of each content, compressed with gzip. In a table, so that backups have it.
  await schema.createTable('reader_contents', {
    hash: 'text',
    content_type: 'text',
    bytes: 'int',
    packed: 'blob',
    stored_at: 'time',
    // Evidence refers to it: it is never pruned.
    is_kept: 'bool',
  }, { primary: ['hash'], index: [['is_kept', 'stored_at']] });

  // What the last successful read of an address found.
  await schema.createTable('reader_pages', {
    url: 'text',
    final_url: 'text',
    etag: 'text?',
    last_modified: 'text?',
    content_hash: 'text',
    content_type: 'text',
    read_at: 'time',
  }, { primary: ['url'], index: [['content_hash'], ['read_at']] });

  await schema.createTable('reader_fetches', {
    key: 'id',
    id: 'uuid',
    url: 'text',
    host: 'text',
    purpose: 'text',
    at: 'time',
    outcome: 'text',
    reason: 'text?',
    detail: 'text?',
    status: 'int?',
    bytes: 'int',
    milliseconds: 'int',
    via: 'text',
    hops: 'json',
    content_hash: 'text?',
  }, { unique: [['id']], index: [['at'], ['host', 'key']] });

  await schema.createTable('reader_hosts', {
    origin: 'text',
    // The robots.txt as it was last read; null allows everything.
    robots: 'text?',
    robots_status: 'text',
    robots_at: 'time',
    // When the next request may begin.
    next_at: 'time',
    // The host asked for a pause, or failed.
    rest_until: 'time?',
    failures: 'int',
  }, { primary: ['origin'] });
}
