import type { Knex } from 'knex';
import { dialectOf } from './tables.ts';
import type { Dialect, Reader, Tx } from './types.ts';

const LONGEST_TOKEN = 64;

/** Text as it is compared and searched: no accents, one case, one form of each letter. */
export function foldText(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().toLowerCase();
  return plain.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ς', 'σ');
}

/** The words of a text, folded, each once. Made here, so that both databases find the same. */
export function tokens(text: string): string[] {
  const words = foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map(cut))];
}

function cut(word: string): string {
  return word.length <= LONGEST_TOKEN ? word : Array.from(word).slice(0, LONGEST_TOKEN).join('');
}

// The tokenizer `ascii` keeps every letter beyond ASCII as it is: SQLite splits at the spaces and nowhere else.
export function searchIndexStatements(dialect: Dialect, table: string): string[] {
  if (dialect === 'sqlite') return [`create virtual table ${table} using fts5(tokens, detail = none, columnsize = 0, prefix = '2 3', tokenize = 'ascii')`];
  // Counting what is found visits the rows; with the tokens out of line a million rows fit in 90 MB. Postgres
  // moves them only in rows of more than 2,000 bytes, hence the filling, which is 35 bytes when compressed.
  return [
    `create table ${table} (key bigint primary key, tokens tsvector not null, filling text not null default repeat(' ', 2100)) with (toast_tuple_target = 128)`,
    `alter table ${table} alter tokens set storage external, alter filling set storage main`,
    `create index ${table}_tokens_idx on ${table} using gin (tokens)`,
  ];
}

/** Replaces what the index holds for a row; no tokens take it out. */
export async function putSearchTokens(tx: Tx, table: string, key: number, words: string[]): Promise<void> {
  const isSqlite = dialectOf(tx) === 'sqlite';
  await tx(table).where(isSqlite ? 'rowid' : 'key', key).delete();
  const found = words.flatMap(tokens);
  if (found.length === 0) return;
  if (isSqlite) await tx.raw('insert into ?? (rowid, tokens) values (?, ?)', [table, key, found.join(' ')]);
  else await tx.raw('insert into ?? (key, tokens) values (?, array_to_tsvector(?::text[]))', [table, key, found]);
}

export interface SearchWords {
  /** Words that must all be there. */
  all: string[];
  /** The beginning of one more word. */
  prefix?: string;
}

/** Narrows a query to rows whose `column` holds a key that the index finds. Without any word it finds nothing. */
export function searchMatch(db: Reader, query: Knex.QueryBuilder, column: string, table: string, words: SearchWords): void {
  const all = words.all.flatMap(tokens);
  const beginning = tokens(words.prefix ?? '');
  const prefix = beginning.pop();
  const whole = [...all, ...beginning];
  // Words are letters and digits only, so they need no escaping.
  if (whole.length === 0 && !prefix) {
    query.whereRaw('1 = 0');
  } else if (dialectOf(db) === 'sqlite') {
    const match = [...whole.map((word) => `"${word}"`), ...(prefix ? [`"${prefix}"*`] : [])].join(' ');
    query.whereIn(column, db(table).select('rowid').whereRaw('?? match ?', [table, match]));
  } else {
    const match = [...whole.map((word) => `'${word}'`), ...(prefix ? [`'${prefix}':*`] : [])].join(' & ');
    query.whereIn(column, db(table).select('key').whereRaw('tokens @@ ?::tsquery', [match]));
  }
}
