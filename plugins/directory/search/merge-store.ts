import { dialectOf, type Tx } from 'civic';

/** One step; false when nothing is left to merge. */
export async function mergeIndex(tx: Tx, pages: number): Promise<boolean> {
  if (dialectOf(tx) === 'postgres') {
    await tx.raw("select gin_clean_pending_list('directory_search_tokens_idx')");
    return false;
  }
  // A write never stops to merge; without this, one in sixteen would take a hundred times as long.
  await tx.raw("insert into directory_search (directory_search, rank) values ('automerge', 0)");
  const before = await changes(tx);
  await tx.raw("insert into directory_search (directory_search, rank) values ('merge', ?)", [pages]);
  // SQLite's own way to tell: a step that found work has changed at least two rows.
  return await changes(tx) - before >= 2;
}

async function changes(tx: Tx): Promise<number> {
  const [row] = await tx.raw('select total_changes() as count');
  return row.count;
}
