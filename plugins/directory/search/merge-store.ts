import { dialectOf, type Tx } from 'civic';

/** One step; false when nothing is left to merge. */
export async function mergeIndex(tx: Tx, pages: number): Promise<boolean> {
  if (dialectOf(tx) === 'postgres') {
    await tx.raw("select gin_clean_pending_list('directory_search_tokens_idx')");
    return false;
  }
  await neverMergeInWrites(tx);
  const before = await changes(tx);
  await tx.raw("insert into directory_search (directory_search, rank) values ('merge', ?)", [pages]);
  // SQLite's own way to tell: a step that found work has changed at least two rows.
  return await changes(tx) - before >= 2;
}

/** Otherwise one write in sixteen, and of an import one in a few hundred, takes hundreds of times as long as the others. */
async function neverMergeInWrites(tx: Tx): Promise<void> {
  for (const [name, value] of Object.entries({ automerge: 0, crisismerge: 256 })) {
    await tx.raw('insert into directory_search (directory_search, rank) values (?, ?)', [name, value]);
  }
}

async function changes(tx: Tx): Promise<number> {
  const [row] = await tx.raw('select total_changes() as count');
  return row.count;
}
