import type { Schema } from 'civic';

/** The county and time zone of a place; indexes for the places that have actors, by number of actors, region and position, and for the freshness of a place. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('directory_places', { county: 'text?', time_zone: 'text?' });
  await schema.addIndex('directory_places', ['state', 'county']);
  await schema.addIndex('directory_places', ['latitude']);
  await schema.addIndex('directory_counts', ['issue_area', 'type', 'actors', 'place']);
  await schema.addIndex('directory_listings', ['place', 'workspace_id', 'fresh_until', 'aging_until']);
}
