import type { Schema } from 'civic';

/** How many flags a record or a source has, as the plugin that manages flags reports them. */
export async function up(schema: Schema): Promise<void> {
  for (const table of ['directory_records', 'directory_sources']) {
    await schema.addColumns(table, { flags_open: 'int?', flags_total: 'int?', flags_latest_at: 'time?' });
  }
}
