import { dialectOf, type Tx } from 'civic';
import { rankOf, tagToken, termsOf, tokensOf, type SearchDocument } from './document.ts';
import { deletionsOf } from './typo.ts';

/** Puts documents in place of those with the previous ranks, as one set. */
export async function putDocuments(tx: Tx, documents: SearchDocument[], previousRanks: number[]): Promise<void> {
  await removeDocuments(tx, previousRanks);
  if (documents.length === 0) return;
  // SQLite starts a new segment of its index whenever a row comes before the last one.
  const rows = documents.map((document) => ({ rank: rankOf(document.prior, document.key), tokens: tokensOf(document).join(' ') })).sort((a, b) => a.rank - b.rank);
  const json = JSON.stringify(rows);
  if (dialectOf(tx) === 'sqlite') {
    await tx.raw("insert into directory_search (rowid, tokens) select value ->> 'rank', value ->> 'tokens' from json_each(?)", [json]);
  } else {
    await tx.raw(`insert into directory_search (key, tokens) select rank, array_to_tsvector(string_to_array(tokens, ' '))
      from json_to_recordset(?::json) as row (rank bigint, tokens text)`, [json]);
  }
  await addTerms(tx, documents);
}

export async function removeDocuments(tx: Tx, ranks: number[]): Promise<void> {
  if (ranks.length === 0) return;
  const json = JSON.stringify([...ranks].sort((a, b) => a - b));
  if (dialectOf(tx) === 'sqlite') await tx.raw('delete from directory_search where rowid in (select value from json_each(?))', [json]);
  else await tx.raw('delete from directory_search where key in (select value::bigint from json_array_elements_text(?::json))', [json]);
}

/** Words and tags that the vocabulary lacks. A workspace's own stay out of it: nobody else is told of them. */
async function addTerms(tx: Tx, documents: SearchDocument[]): Promise<void> {
  const terms = new Set<string>();
  for (const document of documents) {
    if (document.workspace !== null) continue;
    for (const term of termsOf(document)) terms.add(term);
    for (const tag of document.tags) terms.add(tagToken(tag));
  }
  // In one order everywhere, so that two writers wait for each other instead of locking up.
  const isSqlite = dialectOf(tx) === 'sqlite';
  const values = isSqlite ? 'select value from json_each(?) where true' : 'select value from json_array_elements_text(?::json)';
  const added: { term: string }[] = await tx.raw(`insert into directory_terms (term) ${values} on conflict do nothing returning term`, [JSON.stringify([...terms].sort())]);
  const deletions = added.flatMap(({ term }) => deletionsOf(term).map((deletion) => ({ deletion, term })));
  if (deletions.length === 0) return;
  const rows = isSqlite ? "select value ->> 'deletion', value ->> 'term' from json_each(?) where true" : 'select deletion, term from json_to_recordset(?::json) as row (deletion text, term text)';
  await tx.raw(`insert into directory_term_deletions (deletion, term) ${rows} on conflict do nothing`, [JSON.stringify(deletions)]);
}
