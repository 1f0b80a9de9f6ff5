import type { Schema } from 'civic';

/** The job that reads an upload, so that an upload whose job ended without it is found, and the code of an import's failure. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('directory_imports', { job_id: 'uuid?', error_code: 'text?' });
  await schema.addIndex('directory_imports', ['account_id', 'state']);
}
