import { dialectOf, type Position, type Reader } from 'civic';
import type { FreshnessDays } from '../actors/freshness.ts';
import type { FreshnessStatus } from '../types.ts';
import { keyOf } from './document.ts';
import { matchText, type Filter, type Match } from './match.ts';

/** By what a list is sorted when it is not by relevance. */
export type Order = 'name' | 'recent' | 'source_count';

const ORDERS: Record<Order, { column: string; direction: 'asc' | 'desc' }> = {
  name: { column: 'name_sort', direction: 'asc' },
  recent: { column: 'updated_at', direction: 'desc' },
  source_count: { column: 'source_count', direction: 'desc' },
};

/** Which freshness is asked for, judged on a day (since 1970, UTC). */
export interface FreshnessFilter {
  statuses: FreshnessStatus[];
  day: number;
}

/** What facets are counted by. */
export interface TaggedRow extends FreshnessDays {
  key: number;
  tags: string;
  visibility: string;
}

interface Sql {
  text: string;
  bindings: (string | number)[];
}

interface Narrowed {
  match: Match;
  freshness: FreshnessFilter | null;
}

const KEYS = '1099511627775';
const MOST_WALKED = 4000;
const MOST_STEP = 20_000;
/** Comes after every letter. */
const LAST = '\u{10ffff}';

function freshnessSql({ statuses, day }: FreshnessFilter): Sql {
  const conditions: Record<FreshnessStatus, string> = {
    fresh: 'fresh_until >= ?', aging: '(fresh_until < ? and aging_until >= ?)', stale: 'aging_until < ?', unknown: 'fresh_until is null',
  };
  const text = statuses.map((status) => conditions[status]).join(' or ');
  return { text: `(${text || '1 = 0'})`, bindings: Array.from(text.matchAll(/\?/g), () => day) };
}

/** `from … where …` of what the index finds; `rank` names its key. */
function found(reader: Reader, { match, freshness }: Narrowed, table = 'directory_search'): Sql & { rank: string } {
  const dialect = dialectOf(reader);
  const rank = dialect === 'sqlite' ? 'rowid' : 'key';
  const words = dialect === 'sqlite' ? 'directory_search match ?' : 'tokens @@ ?::tsquery';
  const sql = { rank, text: `from ${table} where ${words}`, bindings: [matchText(match, dialect) as string | number] };
  if (!freshness) return sql;
  const { text, bindings } = freshnessSql(freshness);
  return {
    rank,
    text: `${sql.text} and exists (select 1 from directory_actors as actor where actor.key = (directory_search.${rank} & ${KEYS}) and ${text})`,
    bindings: [...sql.bindings, ...bindings],
  };
}

/** The actors' keys as one value: a row for each would cost ten times as much. */
function keysSql(reader: Reader, rank: string): string {
  return dialectOf(reader) === 'sqlite' ? `group_concat(${rank} & ${KEYS})` : `string_agg(int4send((${rank} & ${KEYS})::int), ''::bytea)`;
}

function readKeys(value: string | number | Buffer | null): Uint32Array {
  if (value === null) return new Uint32Array(0);
  if (Buffer.isBuffer(value)) {
    const keys = new Uint32Array(value.length / 4);
    for (let index = 0; index < keys.length; index++) keys[index] = value.readUInt32BE(index * 4);
    return keys;
  }
  // Bytes and 32-bit integers: reading the characters of the text takes several times as long.
  const digits = Buffer.from(String(value), 'latin1');
  const keys = new Uint32Array((digits.length >> 1) + 1);
  let count = 0;
  let key = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits[index]! - 48;
    if (digit >= 0) {
      key = (Math.imul(key, 10) + digit) | 0;
      continue;
    }
    keys[count++] = key;
    key = 0;
  }
  keys[count++] = key;
  return keys.subarray(0, count);
}

export interface Ranked {
  tier: number;
  rank: number;
}

export interface TierRequest {
  tiers: Match[];
  freshness: FreshnessFilter | null;
  after: Ranked | null;
  limit: number;
  /** At least one in a hundred actors is found. */
  isFrequent: boolean;
}

/** What is found with its tokens between spaces; null when it is more than `most`. */
export async function documentsFound(reader: Reader, narrowed: Narrowed, most: number): Promise<{ rank: number; tokens: string }[] | null> {
  const { rank, text, bindings } = found(reader, narrowed);
  const tokens = dialectOf(reader) === 'sqlite' ? 'tokens' : "array_to_string(tsvector_to_array(tokens), ' ')";
  const rows: { rank: number; tokens: string }[] = await reader.raw(`select ${rank} as rank, ' ' || ${tokens} || ' ' as tokens ${text} limit ?`, [...bindings, most + 1]);
  return rows.length > most ? null : rows;
}

/** The first that are found in the order of their ranks, with their tokens between spaces. Postgres looks only at the first documents of all. */
export async function firstDocuments(reader: Reader, match: Match, most: number): Promise<{ rank: number; tokens: string }[]> {
  const isSqlite = dialectOf(reader) === 'sqlite';
  const { rank, text, bindings } = found(reader, { match, freshness: null }, isSqlite ? undefined : `(select key, tokens from directory_search order by key limit ${MOST_WALKED}) as directory_search`);
  const tokens = isSqlite ? 'tokens' : "array_to_string(tsvector_to_array(tokens), ' ')";
  return await reader.raw(`select ${rank} as rank, ' ' || ${tokens} || ' ' as tokens ${text} order by ${rank} limit ?`, [...bindings, most]);
}

/** A page by tier and rank. Tiers behind a full page are not looked at. */
export async function pageByRank(reader: Reader, { tiers, freshness, after, limit, isFrequent }: TierRequest): Promise<Ranked[]> {
  const rows: Ranked[] = [];
  for (const [index, match] of tiers.entries()) {
    const tier = index + 1;
    if ((after && tier < after.tier) || rows.length === limit) continue;
    const wanted = { narrowed: { match, freshness }, after: after?.tier === tier ? after.rank : 0, limit: limit - rows.length };
    // Only the last tier is as frequent as everything that is found.
    const ranks = isFrequent && index === tiers.length - 1 ? await frequentRanks(reader, wanted) : await ranksAfter(reader, wanted);
    rows.push(...ranks.map((rank) => ({ tier, rank })));
  }
  return rows;
}

interface WantedRanks {
  narrowed: Narrowed;
  after: number;
  limit: number;
}

async function ranksAfter(reader: Reader, { narrowed, after, limit }: WantedRanks): Promise<number[]> {
  const { rank, text, bindings } = found(reader, narrowed);
  // Postgres would sometimes walk the whole table in order of `key`, looking for words that are rare.
  const order = dialectOf(reader) === 'sqlite' ? rank : `${rank} + 0`;
  const rows: { rank: number }[] = await reader.raw(`select ${rank} as rank ${text} and ${rank} > ? order by ${order} limit ?`, [...bindings, after, limit]);
  return rows.map((row) => row.rank);
}

/** Postgres gathers everything before it sorts; a frequent word is met sooner by looking at one row after the other, up to a bound. */
async function frequentRanks(reader: Reader, wanted: WantedRanks): Promise<number[]> {
  if (dialectOf(reader) === 'sqlite') return await ranksAfter(reader, wanted);
  const { narrowed, after, limit } = wanted;
  const { text, bindings } = found(reader, narrowed, '(select key, tokens from directory_search where key > ? order by key limit ?) as directory_search');
  const rows: { rank: number }[] = await reader.raw(`select key as rank ${text} limit ?`, [after, MOST_WALKED, ...bindings, limit]);
  return rows.length === limit ? rows.map((row) => row.rank) : await ranksAfter(reader, wanted);
}

/** How many are found, and which when asked. */
export async function countFound(reader: Reader, narrowed: Narrowed, withKeys = false): Promise<{ total: number; keys: Uint32Array | null }> {
  const { rank, text, bindings } = found(reader, narrowed);
  const [row] = await reader.raw(`select count(*) as total, ${withKeys ? keysSql(reader, rank) : 'null'} as keys ${text}`, bindings);
  return { total: row.total, keys: withKeys ? readKeys(row.keys) : null };
}

/** The same up to a bound. */
export async function countUpTo(reader: Reader, match: Match, bound: number): Promise<number> {
  const { text, bindings } = found(reader, { match, freshness: null });
  const [row] = await reader.raw(`select count(*) as total from (select 1 ${text} limit ?) as bounded`, [...bindings, bound]);
  return row.total;
}

export interface SortedRequest {
  order: Order;
  after: Position | null;
  limit: number;
  freshness: FreshnessFilter | null;
  workspace: string | null;
}

export interface SortedRow {
  key: number;
  value: string | number;
}

/** Rows that are equal to the last one are asked for by themselves: SQLite makes no range of a comparison with its own row number in it. */
async function inOrder(reader: Reader, { order, after, limit, freshness }: SortedRequest, narrow: (query: ReturnType<Reader>) => void): Promise<SortedRow[]> {
  const { column, direction } = ORDERS[order];
  const beyond = direction === 'asc' ? '>' : '<';
  const part = (most: number) => {
    const query = reader('directory_actors').select('key', { value: column }).orderBy([{ column, order: direction }, { column: 'key', order: direction }]).limit(most);
    if (freshness) {
      const { text, bindings } = freshnessSql(freshness);
      query.whereRaw(text, bindings);
    }
    narrow(query);
    return query;
  };
  if (!after) return await part(limit);
  const equal: SortedRow[] = await part(limit).where(column, after[0]!).where('key', beyond, after[1]!);
  return equal.length === limit ? equal : [...equal, ...await part(limit - equal.length).where(column, beyond, after[0]!)];
}

function visible(query: ReturnType<Reader>, workspace: string | null): ReturnType<Reader> {
  if (workspace === null) return query.where('visibility', 'public');
  return query.where((either) => either.where('visibility', 'public').orWhere('workspace_id', workspace));
}

/** How many are as fresh as asked, when nothing else narrows them. */
export async function countByFreshness(reader: Reader, freshness: FreshnessFilter, workspace: string | null, withKeys: boolean): Promise<{ total: number; keys: Uint32Array | null }> {
  const { text, bindings } = freshnessSql(freshness);
  const query = reader('directory_actors').select(reader.raw(`count(*) as total, ${withKeys ? keysSql(reader, 'key') : 'null'} as keys`)).whereRaw(text, bindings);
  const [row] = await visible(query, workspace);
  return { total: row.total, keys: withKeys ? readKeys(row.keys) : null };
}

/** Gathers what the index finds and sorts it: for few rows. */
export async function pageOfFound(reader: Reader, request: SortedRequest, match: Match): Promise<SortedRow[]> {
  const { rank, text, bindings } = found(reader, { match, freshness: null });
  return await inOrder(reader, request, (query) => query.whereRaw(`key in (select ${rank} & ${KEYS} ${text})`, bindings));
}

/** The same for actors whose keys are known. */
export async function pageOfKeys(reader: Reader, request: SortedRequest, keys: Uint32Array): Promise<SortedRow[]> {
  return await inOrder(reader, { ...request, freshness: null }, (query) => query.whereRaw(`key in (${keysIn(reader)})`, [`[${keys.join()}]`]));
}

/** Walks an index in order and keeps actors whose keys are known, of some `size` actors: for many keys. */
export async function pageByKeys(reader: Reader, request: SortedRequest, keys: Uint32Array, size: number): Promise<SortedRow[]> {
  let last = 0;
  for (let index = 0; index < keys.length; index++) if (keys[index]! > last) last = keys[index]!;
  const isWanted = new Uint8Array(last + 1);
  for (let index = 0; index < keys.length; index++) isWanted[keys[index]!] = 1;
  const rows: SortedRow[] = [];
  let { after } = request;
  for (let step = Math.ceil((request.limit * size * 1.5) / keys.length); rows.length < request.limit; step = Math.min(MOST_STEP, step * 2)) {
    const walked = await inOrder(reader, { ...request, freshness: null, after, limit: step }, () => undefined);
    rows.push(...walked.filter(({ key }) => isWanted[key]));
    if (walked.length < step) break;
    const end: SortedRow = walked.at(-1)!;
    after = [end.value, end.key];
  }
  return rows.slice(0, request.limit);
}

/** Walks in order and keeps what fits: for many rows. */
export async function pageByWalk(reader: Reader, request: SortedRequest, filters: Filter[], words: Match | null): Promise<SortedRow[]> {
  const isSqlite = dialectOf(reader) === 'sqlite';
  const has = isSqlite ? "instr(' ' || tags || ' ', ?) > 0" : "position(? in ' ' || tags || ' ') > 0";
  return await inOrder(reader, request, (query) => {
    visible(query, request.workspace);
    for (const { any } of filters) query.whereRaw(`(${any.map(() => has).join(' or ')})`, any.map((tag) => ` ${tag} `));
    if (!words) return;
    const { rank, text, bindings } = found(reader, { match: words, freshness: null });
    // Postgres tests the words of one actor at a time; SQLite would begin anew with each, so it gathers them all first.
    query.whereRaw(isSqlite ? `+key in (select ${rank} & ${KEYS} ${text})` : `(select 1 ${text} and ${rank} = directory_actors.rank) = 1`, bindings);
  });
}

/**
 * Postgres takes reading the whole table for cheap, since it does not count that the tokens lie elsewhere,
 * and compiles or shares out what is over before that pays.
 */
export async function searching<T>(reader: Reader, work: (reader: Reader) => Promise<T>): Promise<T> {
  if (dialectOf(reader) === 'sqlite') return await work(reader);
  const prepared = async (tx: Reader) => {
    await tx.raw('set local enable_seqscan = off; set local jit = off; set local max_parallel_workers_per_gather = 0');
    return await work(tx);
  };
  return reader.isTransaction ? await prepared(reader) : await reader.transaction(prepared, { readOnly: true });
}

/** Words of the vocabulary with this beginning. */
export async function termsFrom(reader: Reader, start: string, most: number): Promise<string[]> {
  return await reader('directory_terms').where('term', '>=', start).where('term', '<', start + LAST).orderBy('term').limit(most).pluck('term');
}

/** The first `length` letters of words of the vocabulary, each beginning once; only of words that start with `start`. */
export async function shortStarts(reader: Reader, start: string, length: number): Promise<string[]> {
  const starts: { start: string }[] = await reader('directory_terms').where('term', '>=', start).where('term', '<', start + LAST)
    .distinct(reader.raw('substr(term, 1, ?) as start', [length])).orderBy('start');
  // The vocabulary also has tokens of tags.
  return starts.map((row) => row.start).filter((found) => Array.from(found).length === length && /^[\p{L}\p{N}]+$/u.test(found));
}

/** The tokens of these actors between spaces. */
export async function tokensByKey(reader: Reader, keys: number[]): Promise<{ key: number; tokens: string }[]> {
  const [rank, tokens] = dialectOf(reader) === 'sqlite' ? ['rowid', 'tokens'] : ['key', "array_to_string(tsvector_to_array(tokens), ' ')"];
  const rows: { rank: number; tokens: string }[] = await reader.raw(
    `select ${rank} as rank, ' ' || ${tokens} || ' ' as tokens from directory_search where ${rank} in (select rank from directory_actors where key in (${keysIn(reader)}))`, [JSON.stringify(keys)],
  );
  return rows.map((row) => ({ key: keyOf(row.rank), tokens: row.tokens }));
}

/** Those of these words that the vocabulary has. */
export async function knownTerms(reader: Reader, words: string[]): Promise<string[]> {
  return await reader('directory_terms').whereIn('term', words).pluck('term');
}

/** Words of the vocabulary that a word may be a slip of: they share a form with one letter left out. */
export async function nearTerms(reader: Reader, word: string, deletions: string[]): Promise<string[]> {
  const forms = JSON.stringify([word, ...deletions]);
  const values = dialectOf(reader) === 'sqlite' ? 'select value from json_each(?)' : 'select value from json_array_elements_text(?::json)';
  const rows: { term: string }[] = await reader.raw(
    `select term from directory_term_deletions where deletion in (${values}) union select term from directory_terms where term in (${values}) order by term`, [forms, JSON.stringify(deletions)],
  );
  return rows.map(({ term }) => term);
}

/** Tokens of all tags that public actors have had. */
export async function tagTokens(reader: Reader, first: string): Promise<string[]> {
  return await reader('directory_terms').where('term', '>=', first).where('term', '<', first + LAST).orderBy('term').pluck('term');
}

/** SQL of the keys in a list that is bound as JSON. */
export function keysIn(reader: Reader): string {
  return dialectOf(reader) === 'sqlite' ? 'select value from json_each(?)' : 'select value::bigint from json_array_elements_text(?::json)';
}

export async function tagsByKey(reader: Reader, keys: number[]): Promise<TaggedRow[]> {
  return await reader('directory_actors').select('key', 'tags', 'visibility', 'fresh_until', 'aging_until').whereRaw(`key in (${keysIn(reader)})`, [JSON.stringify(keys)]);
}

/** Returns the keys of all actors in some places, private ones too, each once. */
export async function keysInPlaces(reader: Reader, places: number[]): Promise<Uint32Array> {
  const [row] = await reader.raw(`select ${keysSql(reader, 'actor_key')} as keys from (select distinct actor_key from directory_listings where place in (${places.map(() => '?').join(', ')})) as listed`, places);
  return readKeys(row.keys);
}

/** The keys of all actors by a day of their freshness, private ones too. */
export async function keysByDay(reader: Reader, column: keyof FreshnessDays): Promise<{ day: number; keys: Uint32Array }[]> {
  const rows = await reader('directory_actors').whereNotNull(column).groupBy(column).select({ day: column }, reader.raw(`${keysSql(reader, 'key')} as keys`));
  return rows.map(({ day, keys }) => ({ day, keys: readKeys(keys) }));
}
