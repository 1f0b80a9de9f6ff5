import type { Schema } from 'civic';

/** The version of the read model that an actor's row was derived by; null before versions were stored. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('directory_actors', { model: 'int?' });
}
