import { bulkInsert, type Reader, type Tx } from 'civic';

export interface BlockRow {
  block: number;
  actor_key: number;
}

const CHUNK = 5000;

export const insertBlocks = (tx: Tx, rows: BlockRow[]) => bulkInsert(tx, 'directory_blocks', rows as never[]);

export async function deleteBlocks(tx: Tx, actorKeys: number[]): Promise<void> {
  for (let start = 0; start < actorKeys.length; start += CHUNK) await tx('directory_blocks').whereIn('actor_key', actorKeys.slice(start, start + CHUNK)).delete();
}

/** Who is in these blocks. Those that more than `most` share are left out, at the cost of counting no further than that. */
export async function actorsInBlocks(reader: Reader, blocks: number[], most: number): Promise<BlockRow[]> {
  const rows: BlockRow[] = [];
  for (let start = 0; start < blocks.length; start += CHUNK) {
    const some = blocks.slice(start, start + CHUNK);
    rows.push(...await reader
      // Blocks are whole numbers made here, so they need no binding, whose type Postgres would not know.
      .with('wanted', ['block'], reader.raw(`values ${some.map((block) => `(${Math.trunc(block)})`).join(', ')}`))
      .from('wanted').join('directory_blocks', 'directory_blocks.block', 'wanted.block')
      .whereRaw('(select count(*) from (select 1 from directory_blocks as held where held.block = wanted.block limit ?) as few) <= ?', [most + 1, most])
      .select('directory_blocks.block', 'directory_blocks.actor_key'));
  }
  return rows.map(({ block, actor_key }) => ({ block: Number(block), actor_key: Number(actor_key) }));
}
