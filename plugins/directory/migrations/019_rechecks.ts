import type { Schema } from 'civic';

/** Sources that should be checked again, those of the highest impact; a job computes them. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_rechecks', {
    source_key: 'bigint',
    impact: 'int',
    // How many public actors cite it.
    cited: 'int',
    // How many of its statements are past their half-life.
    due: 'int',
    // The first record with such a statement.
    from_record: 'bigint?',
  }, { primary: ['source_key'], index: [['impact', 'source_key']], derived: true });
}
