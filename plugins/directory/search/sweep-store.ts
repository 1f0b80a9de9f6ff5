import { dialectOf, type Reader, type Tx } from 'civic';
import { keyOf } from './document.ts';
import { searching } from './query-store.ts';
import { deletionsOf } from './typo.ts';

export async function documentRanksAfter(reader: Reader, after: number, limit: number): Promise<number[]> {
  const rank = dialectOf(reader) === 'sqlite' ? 'rowid' : 'key';
  const rows: { rank: number }[] = await reader.raw(`select ${rank} as rank from directory_search where ${rank} > ? order by ${rank} limit ?`, [after, limit]);
  return rows.map((row) => Number(row.rank));
}

/** Those of these ranks that no actor has. */
export async function orphanedRanks(reader: Reader, ranks: number[]): Promise<number[]> {
  const kept = new Set((await reader('directory_actors').whereIn('key', ranks.map(keyOf)).pluck('rank')).map(Number));
  return ranks.filter((rank) => !kept.has(rank));
}

export async function termsAfter(reader: Reader, after: string, limit: number): Promise<string[]> {
  return reader('directory_terms').where('term', '>', after).orderBy('term').limit(limit).pluck('term');
}

/** Those of these words that no public document has: tokens of private ones have a mark in front. */
export async function unusedTerms(reader: Reader, terms: string[]): Promise<string[]> {
  const rows: { term: string }[] = await searching(reader, (quick) => quick.raw(dialectOf(reader) === 'sqlite'
    ? "select value as term from json_each(?) where not exists (select 1 from directory_search where directory_search match '\"' || value || '\"')"
    : "select term from json_array_elements_text(?::json) as wanted (term) where not exists (select 1 from directory_search where tokens @@ ('''' || term || '''')::tsquery)", [JSON.stringify(terms)]));
  return rows.map(({ term }) => term);
}

export async function deleteTerms(tx: Tx, candidates: string[]): Promise<void> {
  const isSqlite = dialectOf(tx) === 'sqlite';
  // Waits for writers that found the word in the vocabulary and have not committed their document yet.
  if (!isSqlite) await tx.raw('lock table directory_terms in share row exclusive mode');
  const terms = await unusedTerms(tx, candidates);
  const deletions = JSON.stringify(terms.flatMap((term) => deletionsOf(term).map((deletion) => ({ deletion, term }))));
  const pairs = isSqlite ? "select value ->> 'deletion', value ->> 'term' from json_each(?)" : 'select deletion, term from json_to_recordset(?::json) as row (deletion text, term text)';
  await tx.raw(`delete from directory_term_deletions where (deletion, term) in (${pairs})`, [deletions]);
  await tx('directory_terms').whereIn('term', terms).delete();
}
