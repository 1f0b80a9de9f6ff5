import type { Reader, Tx } from 'civic';
import { endedBefore } from './store.ts';

const TABLE = 'discovery_pages';
const AT_ONCE = 200;

/** `waiting` pages are read next; `skipped` ones have a reason. */
export const PAGE_STATES = ['waiting', 'read', 'skipped'] as const;
export type PageState = (typeof PAGE_STATES)[number];

export interface PageRow {
  key: number;
  run_key: number;
  url: string;
  host: string;
  state: PageState;
  rank: number;
  attempts: number;
  reason: string | null;
  detail: string | null;
  title: string | null;
  content_hash: string | null;
  retrieved_at: string | null;
  found: number;
  /** JSON of the issue areas of the run that the page is about; null until it is read. */
  issue_areas: string | null;
}

/** A page that a local tool read. */
export type ReadPage = Pick<PageRow, 'url' | 'title' | 'content_hash' | 'retrieved_at' | 'found'>;

/** A page with the title that the link to it has, where that is known. */
export type NewPage = Pick<PageRow, 'url' | 'host' | 'rank'> & Partial<Pick<PageRow, 'title'>>;

/** Adds pages that the run does not have yet. */
export async function addPages(tx: Tx, runKey: number, pages: NewPage[]): Promise<void> {
  for (let at = 0; at < pages.length; at += AT_ONCE) {
    const rows = pages.slice(at, at + AT_ONCE).map((page) => ({ ...page, title: page.title ?? null, run_key: runKey, state: 'waiting', attempts: 0, reason: null, detail: null, content_hash: null, retrieved_at: null, found: 0, issue_areas: null }));
    await tx(TABLE).insert(rows).onConflict(['run_key', 'url']).ignore();
  }
}

/** Adds pages that a local tool read, or replaces what is known of them. */
export async function addReadPages(tx: Tx, runKey: number, pages: ReadPage[]): Promise<void> {
  for (let at = 0; at < pages.length; at += AT_ONCE) {
    const rows = pages.slice(at, at + AT_ONCE).map((page) => ({ ...page, run_key: runKey, host: new URL(page.url).host, state: 'read', rank: 0, attempts: 0, reason: null, detail: null, issue_areas: '[]' }));
    await tx(TABLE).insert(rows).onConflict(['run_key', 'url']).merge(['title', 'content_hash', 'retrieved_at', 'found']);
  }
}

/** Returns which addresses the run has already. */
export async function knownUrls(reader: Reader, runKey: number, urls: string[]): Promise<Set<string>> {
  const known = new Set<string>();
  for (let at = 0; at < urls.length; at += AT_ONCE) for (const url of await reader(TABLE).where({ run_key: runKey }).whereIn('url', urls.slice(at, at + AT_ONCE)).pluck('url')) known.add(String(url));
  return known;
}

export async function updatePage(tx: Tx, key: number, changes: Partial<PageRow>): Promise<void> {
  await tx(TABLE).where({ key }).update(changes);
}

/** Returns the pages that are read next. */
export async function waitingPages(reader: Reader, runKey: number, limit: number): Promise<PageRow[]> {
  return reader(TABLE).where({ run_key: runKey, state: 'waiting' }).orderBy(['rank', 'key']).limit(limit).select('*');
}

/** Returns how many pages the run has of each host and rank. */
export async function pageTotals(reader: Reader, runKey: number): Promise<{ hosts: Map<string, number>; ranks: Map<number, number>; all: number }> {
  const rows: { host: string; rank: number; count: number | string }[] = await reader(TABLE).where({ run_key: runKey }).groupBy('host', 'rank').select('host', 'rank').count('* as count');
  const [hosts, ranks] = [new Map<string, number>(), new Map<number, number>()];
  let all = 0;
  for (const { host, rank, count } of rows) {
    hosts.set(host, (hosts.get(host) ?? 0) + Number(count));
    ranks.set(Number(rank), (ranks.get(Number(rank)) ?? 0) + Number(count));
    all += Number(count);
  }
  return { hosts, ranks, all };
}

/** Returns how many pages of each host were skipped for each reason. */
export async function skippedPages(reader: Reader, runKey: number): Promise<{ host: string; reason: string; count: number }[]> {
  const rows: { host: string; reason: string; count: number | string }[] = await reader(TABLE).where({ run_key: runKey, state: 'skipped' }).groupBy('host', 'reason').orderBy(['host', 'reason']).select('host', 'reason').count('* as count');
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Returns the issue areas of the pages of a run on which actors were found. */
export async function issuesWithFindings(reader: Reader, runKey: number): Promise<Set<string>> {
  const rows: string[] = await reader(TABLE).where({ run_key: runKey, state: 'read' }).where('found', '>', 0).whereNotNull('issue_areas').distinct().pluck('issue_areas');
  return new Set(rows.flatMap((row) => JSON.parse(row) as string[]));
}

/** Returns pages that runs read before the archive had an index, with the workspace of their run. Pages of local tools are not in the archive. */
export async function unindexedPages(reader: Reader, limit: number): Promise<(PageRow & { workspace_id: string | null })[]> {
  return reader(TABLE).join('discovery_runs', 'discovery_runs.key', 'discovery_pages.run_key').where({ state: 'read', 'discovery_pages.issue_areas': null }).whereNotNull('content_hash').whereNot('discovery_runs.origin', 'sync')
    .orderBy('discovery_pages.key').limit(limit).select('discovery_pages.*', 'discovery_runs.workspace_id');
}

/** Returns the addresses of the run that have a query. */
export async function urlsWithQuery(reader: Reader, runKey: number): Promise<string[]> {
  return reader(TABLE).where({ run_key: runKey }).where('url', 'like', '%?%').pluck('url');
}

export async function pageCounts(reader: Reader, runKey: number): Promise<Record<PageState, number>> {
  const rows: { state: PageState; count: number | string }[] = await reader(TABLE).where({ run_key: runKey }).groupBy('state').select('state').count('* as count');
  const counts = { waiting: 0, read: 0, skipped: 0 };
  for (const { state, count } of rows) counts[state] = Number(count);
  return counts;
}

/** Returns one page of the list of a run's pages, in the order in which they were found. */
export async function pagesPage(reader: Reader, runKey: number, { after, limit }: { after: number | null; limit: number }): Promise<{ rows: PageRow[]; total: number }> {
  const query = reader(TABLE).where({ run_key: runKey }).orderBy('key').limit(limit);
  if (after !== null) query.where('key', '>', after);
  const [count] = await reader(TABLE).where({ run_key: runKey }).count('* as total');
  return { rows: await query.select('*'), total: Number(count!.total) };
}

/** Deletes up to 500 pages of runs that ended before a time. Returns how many. */
export async function prunePages(tx: Tx, before: string): Promise<number> {
  return tx(TABLE).whereIn('key', tx(TABLE).whereIn('run_key', endedBefore(tx, before)).limit(500).select('key')).delete();
}
