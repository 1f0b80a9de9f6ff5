import { bulkInsert, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';

export interface BlockRow {
  block: number;
  actor_key: number;
}

export const insertBlocks = (tx: Tx, rows: BlockRow[]) => bulkInsert(tx, 'directory_blocks', rows);

export async function deleteBlocks(tx: Tx, actorKeys: number[]): Promise<void> {
  for (const some of chunksOf(actorKeys)) await tx('directory_blocks').whereIn('actor_key', some).delete();
}

/** Who is in these blocks. Those that more than `most` share are left out, at the cost of counting no further than that. */
export async function actorsInBlocks(reader: Reader, blocks: number[], most: number): Promise<BlockRow[]> {
  const rows: BlockRow[] = [];
  for (const some of chunksOf(blocks)) {
    rows.push(...await reader
      // Blocks are whole numbers made here, so they need no binding, whose type Postgres would not know.
      .with('wanted', ['block'], reader.raw(`values ${some.map((block) => `(${Math.trunc(block)})`).join(', ')}`))
      .from('wanted').join('directory_blocks', 'directory_blocks.block', 'wanted.block')
      .whereRaw('(select count(*) from (select 1 from directory_blocks as held where held.block = wanted.block limit ?) as few) <= ?', [most + 1, most])
      .select('directory_blocks.block', 'directory_blocks.actor_key'));
  }
  return rows.map(({ block, actor_key }) => ({ block: Number(block), actor_key: Number(actor_key) }));
}
