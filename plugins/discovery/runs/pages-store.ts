import type { Reader, Tx } from 'civic';

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
}

export type NewPage = Pick<PageRow, 'url' | 'host' | 'rank'>;

/** Adds pages that the run does not have yet. */
export async function addPages(tx: Tx, runKey: number, pages: NewPage[]): Promise<void> {
  for (let at = 0; at < pages.length; at += AT_ONCE) {
    const rows = pages.slice(at, at + AT_ONCE).map((page) => ({ ...page, run_key: runKey, state: 'waiting', attempts: 0, reason: null, detail: null, title: null, content_hash: null, retrieved_at: null, found: 0 }));
    await tx(TABLE).insert(rows).onConflict(['run_key', 'url']).ignore();
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

/** Returns how many pages of each host the run has. */
export async function hostTotals(reader: Reader, runKey: number): Promise<Map<string, number>> {
  const rows: { host: string; count: number | string }[] = await reader(TABLE).where({ run_key: runKey }).groupBy('host').select('host').count('* as count');
  return new Map(rows.map(({ host, count }) => [host, Number(count)]));
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
