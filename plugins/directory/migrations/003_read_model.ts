import type { Schema } from 'civic';

/** What is read: worked out from the ledger with each write, and again by `rebuild`. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_actors', {
    key: 'bigint',
    id: 'uuid',
    slug: 'text',
    type: 'text',
    name_sort: 'text',
    visibility: 'text',
    workspace_id: 'uuid?',
    // What can be filtered by, between spaces: `t:person s:mo i:housing p:4407066`.
    tags: 'text',
    // Keys of its sources, between spaces.
    sources: 'text',
    // Place in the search index; smaller is better.
    rank: 'bigint',
    source_count: 'int',
    updated_at: 'time',
    version: 'bigint',
    // Days since 1970 (UTC): fresh up to the first, stale after the second.
    fresh_until: 'int?',
    aging_until: 'int?',
    starts_at: 'time?',
    // When the first of the claims it is shown by ends.
    expires_at: 'time?',
    // The wire record as JSON, but for what changes by itself: freshness status, flags.
    body: 'text',
  }, { primary: ['key'], unique: [['id']], index: [['slug'], ['name_sort', 'key'], ['updated_at', 'key'], ['source_count', 'key'], ['expires_at']], derived: true });

  await schema.createTable('directory_listings', {
    place: 'bigint',
    actor_key: 'bigint',
    name_sort: 'text',
    updated_at: 'time',
    source_count: 'int',
    tags: 'text',
    fresh_until: 'int?',
    aging_until: 'int?',
    // Null when everybody may see it.
    workspace_id: 'uuid?',
  }, {
    primary: ['actor_key', 'place'],
    index: [['place', 'name_sort', 'actor_key'], ['place', 'updated_at', 'actor_key'], ['place', 'source_count', 'actor_key']],
    derived: true,
  });

  // Sources of public actors in a place; `uses` counts the actors.
  await schema.createTable('directory_place_sources', {
    place: 'bigint',
    source_key: 'bigint',
    retrieved_at: 'time',
    uses: 'int',
  }, { primary: ['source_key', 'place'], index: [['place', 'retrieved_at', 'source_key']], derived: true });

  // Public actors by place; an empty issue area or type stands for all.
  await schema.createTable('directory_counts', {
    place: 'bigint',
    issue_area: 'text',
    type: 'text',
    actors: 'int',
  }, { primary: ['place', 'issue_area', 'type'], derived: true });
}
