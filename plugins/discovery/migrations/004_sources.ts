import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // The searches of a run: those that were done are not repeated after a kill.
  await schema.createTable('discovery_queries', {
    key: 'id',
    run_key: 'bigint',
    query: 'text',
    // Whether the search engines were asked.
    is_asked: 'bool',
    // Search engines that failed, with the reason.
    faults: 'json',
  }, { unique: [['run_key', 'query']], references: { run_key: 'discovery_runs.key' } });
  await schema.addColumns('discovery_runs', { gaps: 'json?' });
  // The seeds of a run are pages of it.
  await schema.dropColumn('discovery_runs', 'seeds');
  // Issue areas of the run that the page is about.
  await schema.addColumns('discovery_pages', { issue_areas: 'json?' });
}
