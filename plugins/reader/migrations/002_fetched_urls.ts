import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // Interrupted work asks for the last attempt at each of its addresses.
  await schema.addIndex('reader_fetches', ['url', 'key']);
}
