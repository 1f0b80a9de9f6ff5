import type { Schema } from 'civic';

/** What is searched: tokens made in TypeScript, the words there are, and each of them with one letter left out. */
export async function up(schema: Schema): Promise<void> {
  await schema.createSearchIndex('directory_search');
  // No write stops to merge; the job `directory.merge_search` does it in small steps, and sets this again after a restore.
  await schema.raw({ sqlite: "insert into directory_search (directory_search, rank) values ('automerge', 0)" });
  await schema.raw({ sqlite: "insert into directory_search (directory_search, rank) values ('crisismerge', 256)" });
  await schema.createTable('directory_terms', { term: 'text' }, { primary: ['term'], derived: true });
  await schema.createTable('directory_term_deletions', { deletion: 'text', term: 'text' }, { primary: ['deletion', 'term'], derived: true });
}
