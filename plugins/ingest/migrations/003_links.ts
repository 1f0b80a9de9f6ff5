import type { Schema } from 'civic';

/** What checks found of the addresses of the directory's sources. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('ingest_links', {
    source_id: 'uuid',
    host: 'text',
    added_at: 'time',
    next_at: 'time',
    state: 'text',
    // Failed checks in a row, and the time of the first.
    failures: 'int',
    failing_since: 'time?',
    checked_at: 'time?',
    reached_at: 'time?',
    // Why the last check did not reach the page.
    reason: 'text?',
    detail: 'text?',
    // Where a moved page is now.
    moved_to: 'text?',
    // The archived copy, and the hash of its text.
    content_hash: 'text?',
    text_hash: 'text?',
    // It is broken, and reviewers should get a flag about it.
    is_flag_due: 'bool',
    flag_id: 'uuid?',
    flagged_at: 'time?',
  }, { primary: ['source_id'], index: [['next_at'], ['state', 'reached_at'], ['is_flag_due', 'failing_since'], ['flagged_at']] });
}
