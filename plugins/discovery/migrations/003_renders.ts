import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // How many pages of the run were rendered in a browser: the limit is for the run, which is read in slices.
  await schema.addColumns('discovery_runs', { renders: 'int?' });
}
