import type { Position, Reader } from 'civic';
import type { Columns } from './columns.ts';
import { isFiller, keyOf } from './document.ts';
import { addFacets, facetsOfRows, type Facets } from './facets.ts';
import { coreMatch, isFoundIn, ownMatch, readQuery, tierMatches, wholeMatch, wordMatch, type Asked, type Filter, type Match, type Words } from './match.ts';
import { countByFreshness, countFound, countUpTo, documentsFound, knownTerms, nearTerms, pageByKeys, pageByRank, pageByWalk, pageOfFound, pageOfKeys, searching, tagsByKey, termsFrom, type FreshnessFilter, type Order, type Ranked, type SortedRequest, type SortedRow } from './query-store.ts';
import { shortStart } from './start.ts';
import { deletionsOf, isOneApart } from './typo.ts';

export interface ListRequest {
  query: string | null;
  /** And of ors over tags: `[{ any: ['i:housing', 'i:zoning'] }, { any: ['s:mo'] }]`. */
  filters: Filter[];
  freshness?: FreshnessFilter;
  /** Also this workspace's own actors. */
  workspace: string | null;
  sort: 'relevance' | Order;
  limit: number;
  after: Position | null;
  facets?: boolean;
  /** Facets also count the freshness on this day. */
  facetDay?: number;
  /** Whether words stay as they are, also when nothing is found. */
  isExact?: boolean;
}

export interface Correction {
  from: string;
  to: string;
}

export interface ListResult {
  /** Of the actors on this page, in order. */
  keys: number[];
  total: number;
  /** Where the page ends, when more follows. */
  next: Position | null;
  corrected: Correction[];
  /** Over everything that was found, when asked for. */
  facets: Facets | null;
}

/** Up to this many are gathered and sorted; more are met soon enough in the order itself. */
const FEW = 3000;
const MOST_COUNTED = 10_000;
/** Shorter beginnings have more words than are worth asking for. */
const SHORT = 4;
const MOST_ENDINGS = 32;
/** Up to this many documents are judged here; more when a beginning would have to be looked up otherwise. */
const FEW_JUDGED = 400;
const MOST_JUDGED = 1500;

/** A page of actors, with the exact total; of one moment when the reader is a snapshot. `columns` answers what concerns all actors. */
export async function listActors(reader: Reader, request: ListRequest, columns: Columns): Promise<ListResult> {
  // Of a moment before anything is read: what changes later is seen to be newer.
  const { version } = columns;
  return await searching(reader, (quick) => list(quick, { ...request, version }, columns));
}

interface Listing extends ListRequest {
  /** Of the columns, when it began. */
  version: number;
}

async function list(reader: Reader, request: Listing, columns: Columns): Promise<ListResult> {
  const words = await withEndings(reader, readQuery(request.query));
  const asked: Asked = { words, filters: request.filters, workspace: request.workspace };
  // What nobody has, nobody needs to look for.
  if ((request.query !== null && request.query.trim() !== '' && !words) || request.filters.some(({ any }) => any.length === 0)) return { keys: [], total: 0, next: null, corrected: [], facets: request.facets ? facetsOfRows([], request.facetDay) : null };
  const page = words && request.sort === 'relevance' ? relevant : sorted;
  const first = await page(reader, request, asked, columns);
  if (first.total > 0 || !words || request.isExact) return { ...first, corrected: [] };
  const corrected = await corrections(reader, words, request);
  if (corrected.length === 0) return { ...first, corrected };
  const better = words.words.map((word) => corrected.find(({ from }) => from === word)?.to ?? word);
  return { ...await page(reader, request, { ...asked, words: await withEndings(reader, { words: better, isPrefix: words.isPrefix }) }, columns), corrected };
}

/** Adds the words that the last word of a query may be the beginning of, where they are few. */
export async function withEndings<T extends Words | null>(reader: Reader, words: T): Promise<T> {
  const start = words?.words.at(-1);
  if (!words?.isPrefix || !start || start.length < SHORT) return words;
  const endings = await termsFrom(reader, start, MOST_ENDINGS + 1);
  return endings.length > 0 && endings.length <= MOST_ENDINGS ? { ...words, endings } : words;
}

type Listed = Omit<ListResult, 'corrected'>;

async function relevant(reader: Reader, request: Listing, asked: Asked, columns: Columns): Promise<Listed> {
  const { limit } = request;
  const { total, keys, rows } = await ranked(reader, request, { ...asked, words: asked.words! }, columns);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    keys: page.map(({ rank }) => keyOf(rank)),
    total,
    next: rows.length > limit && last ? [last.tier, last.rank] : null,
    facets: request.facets ? await facetsOf(reader, request, columns, keys) : null,
  };
}

interface Found {
  total: number;
  /** Of all actors that were found, when facets are asked for. */
  keys: Uint32Array | null;
  /** A page, and at least one more when more follows. */
  rows: Ranked[];
}

async function ranked(reader: Reader, request: Listing, asked: Asked & { words: Words }, columns: Columns): Promise<Found> {
  const { freshness = null, facets = false, limit, version } = request;
  const after = request.after && { tier: Number(request.after[0]), rank: Number(request.after[1]) };
  const whole = wholeMatch(asked)!;
  const tiers = tierMatches(asked);
  const id = JSON.stringify([whole, freshness]);
  const pageOf = async (total: number): Promise<Ranked[]> => {
    const starts = after || freshness ? null : await shortStart(reader, asked, limit + 1);
    return starts?.map((rank) => ({ tier: 1, rank })) ?? await pageByRank(reader, { tiers, freshness, after, limit: limit + 1, isFrequent: total * 100 > columns.size });
  };
  // Counting again with every page would cost more than the page.
  const known = after && !facets ? columns.totals.known(id, version) : undefined;
  if (known !== undefined) {
    const rows = await pageOf(known);
    if (columns.version === version) return { total: known, keys: null, rows };
  }
  const core = coreMatch(asked);
  const few = core && await documentsFound(reader, { match: core, freshness }, asked.words.isPrefix && !asked.words.endings ? MOST_JUDGED : FEW_JUDGED);
  if (few) return judged(few, whole, tiers, after);
  const { total, keys } = await totalOf(reader, request, asked, columns);
  if (total > FEW_JUDGED) {
    if (columns.version === version) columns.totals.keep(id, version, total);
    return { total, keys, rows: await pageOf(total) };
  }
  const documents = total === 0 ? [] : await documentsFound(reader, { match: whole, freshness }, FEW_JUDGED);
  return judged(documents ?? [], whole, tiers, after);
}

function judged(documents: { rank: number; tokens: string }[], whole: Match, tiers: Match[], after: Ranked | null): Found {
  const all = documents.filter(({ tokens }) => isFoundIn(tokens, whole))
    .map(({ rank, tokens }) => ({ tier: tiers.findIndex((tier) => isFoundIn(tokens, tier)) + 1, rank }))
    .sort((a, b) => a.tier - b.tier || a.rank - b.rank);
  const rows = after ? all.filter(({ tier, rank }) => tier > after.tier || (tier === after.tier && rank > after.rank)) : all;
  return { total: all.length, keys: Uint32Array.from(all, ({ rank }) => keyOf(rank)), rows };
}

async function sorted(reader: Reader, request: ListRequest, asked: Asked, columns: Columns): Promise<Listed> {
  const { after, limit, workspace, freshness = null } = request;
  const page = { order: request.sort === 'relevance' ? 'name' as const : request.sort, after, limit: limit + 1, freshness, workspace };
  const { total, keys, rows } = await selected(reader, request, page, columns) ?? await matched(reader, request, asked, page, columns);
  const last = rows.slice(0, limit).at(-1);
  return {
    keys: rows.slice(0, limit).map(({ key }) => key),
    total,
    next: rows.length > limit && last ? [last.value, last.key] : null,
    facets: request.facets ? await facetsOf(reader, request, columns, keys) : null,
  };
}

interface Sorted extends Total {
  rows: SortedRow[];
}

/** Finds by filters alone what the columns have in memory; null when the database has to be asked. */
async function selected(reader: Reader, { query, filters }: ListRequest, page: SortedRequest, columns: Columns): Promise<Sorted | null> {
  const { freshness, workspace } = page;
  if ((query !== null && query.trim() !== '') || workspace !== null || (filters.length === 0 && !freshness)) return null;
  await columns.ready();
  const keys = columns.select(filters, freshness);
  if (!keys) return null;
  return { total: keys.length, keys, rows: await pageAmong(reader, page, keys, columns) };
}

async function matched(reader: Reader, request: ListRequest, asked: Asked, page: SortedRequest, columns: Columns): Promise<Sorted> {
  const match = wholeMatch(asked);
  const { total, keys } = await totalOf(reader, request, asked, columns);
  if (total === 0) return { total, keys, rows: [] };
  if (keys) return { total, keys, rows: await pageAmong(reader, page, keys, columns) };
  const words = asked.words && wholeMatch({ ...asked, filters: [] });
  return { total, keys, rows: match && total <= FEW ? await pageOfFound(reader, page, match) : await pageByWalk(reader, page, request.filters, words) };
}

function pageAmong(reader: Reader, page: SortedRequest, keys: Uint32Array, columns: Columns): Promise<SortedRow[]> {
  return keys.length <= FEW ? pageOfKeys(reader, page, keys) : pageByKeys(reader, page, keys, columns.size);
}

interface Total {
  total: number;
  /** Null when these are all there are. */
  keys: Uint32Array | null;
}

async function totalOf(reader: Reader, request: ListRequest, asked: Asked, columns: Columns): Promise<Total> {
  const { freshness = null, workspace, facets = false } = request;
  if (freshness && workspace === null) return await publicWithFreshness(reader, asked, freshness, columns);
  const match = wholeMatch(asked);
  if (match) return await withShortPrefix(asked, columns) ?? await countFound(reader, { match, freshness }, facets);
  if (freshness) return await countByFreshness(reader, freshness, workspace, facets);
  await columns.ready();
  const own = workspace === null ? 0 : (await countFound(reader, { match: ownMatch(workspace), freshness: null })).total;
  return { total: columns.size + own, keys: null };
}

/** Counts by the columns: a database would read a row of each actor, which takes seconds for a million. */
async function publicWithFreshness(reader: Reader, asked: Asked, freshness: FreshnessFilter, columns: Columns): Promise<Total> {
  await columns.ready();
  const match = wholeMatch(asked);
  const found = match ? (await withShortPrefix(asked, columns) ?? await countFound(reader, { match, freshness: null }, true)).keys! : 'all';
  // Another node may have added an actor that is not in the columns of this one yet.
  if (match && columns.unknown(found as Uint32Array).length > 0) return await countFound(reader, { match, freshness }, true);
  const keys = columns.withFreshness(found, freshness);
  return { total: keys.length, keys };
}

/** Finds in memory what has a word with a short beginning that many actors have; null when something else is asked for. */
async function withShortPrefix({ words, filters, workspace }: Asked, columns: Columns): Promise<{ total: number; keys: Uint32Array } | null> {
  if (!words?.isPrefix || words.endings || words.words.length > 1 || workspace !== null) return null;
  const actors = await columns.prefixes.find(words.words[0]!);
  const filtered = actors && filters.length > 0 ? columns.select(filters, null) : undefined;
  if (!actors || filtered === null) return null;
  const keys = actors.among(filtered);
  return { total: keys.length, keys };
}

/** Actors that the columns do not hold, such as a workspace's own, are counted by their tags. */
async function facetsOf(reader: Reader, { workspace, facetDay }: ListRequest, columns: Columns, keys: Uint32Array | null): Promise<Facets> {
  await columns.ready();
  const others = keys ?? (workspace === null ? null : (await countFound(reader, { match: ownMatch(workspace), freshness: null }, true)).keys!);
  const unknown = others ? columns.unknown(others) : [];
  const known = columns.facets(keys ?? 'all', facetDay);
  return unknown.length === 0 ? known : addFacets(known, facetsOfRows(await tagsByKey(reader, unknown), facetDay));
}

/** For each word that nothing has, the most frequent one that differs by one slip; none when one of them stays unknown. */
async function corrections(reader: Reader, asked: Words, { workspace, filters }: ListRequest): Promise<Correction[]> {
  const corrected: Correction[] = [];
  for (const word of await unknownWords(reader, asked, workspace, filters.length === 0)) {
    const to = await nearest(reader, word, workspace);
    if (to === null) return [];
    corrected.push({ from: word, to });
  }
  return corrected;
}

/** The vocabulary tells quickly; only when it knows all words, and no filter is to blame, may one of them be left over from what is no more. */
async function unknownWords(reader: Reader, asked: Words, workspace: string | null, isWordsFault: boolean): Promise<string[]> {
  const telling = asked.words.flatMap((word, index): Words[] => (isFiller(word) ? [] : [index === asked.words.length - 1 ? { ...asked, words: [word] } : { words: [word], isPrefix: false }]));
  const known = new Set(await knownTerms(reader, asked.words));
  const isKnown = async ({ words: [word], isPrefix, endings }: Words) => known.has(word!) || (isPrefix && (endings ?? await termsFrom(reader, word!, 1)).length > 0);
  const isFound = async (words: Words) => await countUpTo(reader, wordMatch(words, workspace), 1) > 0;
  const unknown: Words[] = [];
  for (const words of telling) if (!await isKnown(words) && (workspace === null || !await isFound(words))) unknown.push(words);
  if (unknown.length === 0 && isWordsFault) for (const words of telling) if (!await isFound(words)) unknown.push(words);
  return [...new Set(unknown.map(({ words }) => words[0]!))];
}

async function nearest(reader: Reader, word: string, workspace: string | null): Promise<string | null> {
  const deletions = deletionsOf(word);
  if (deletions.length === 0) return null;
  let best: { term: string; count: number } | null = null;
  for (const term of await nearTerms(reader, word, deletions)) {
    if (!isOneApart(word, term)) continue;
    const count = await countUpTo(reader, wordMatch({ words: [term], isPrefix: false }, workspace), MOST_COUNTED);
    if (count > (best?.count ?? 0)) best = { term, count };
  }
  return best?.term ?? null;
}
