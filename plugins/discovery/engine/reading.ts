import type { RunningJob, Tx } from 'civic';
import type { Read } from 'civic/reader';
import type { Discovery } from '../context.ts';
import { addPages, knownUrls, pageCounts, pageTotals, urlsWithQuery, type NewPage, type PageRow } from '../runs/pages-store.ts';
import { lockedRun, updateRun, type RunRow } from '../runs/store.ts';
import { rankOf } from './frontier.ts';
import type { Subject } from './queries.ts';

/** How many pages a run reads, in all and of one host. */
export const BUDGETS = { standard: { pages: 60, host: 20 }, deep: { pages: 300, host: 100 } };
/** How much of the pages can be found in one way, so that a run reads the sites that it was given, too. */
const SHARES = new Map([[rankOf.indexed, 0.25], [rankOf.searched, 0.5], [rankOf.feed, 0.1], [rankOf.entry, 0.25]]);
/** Pages that differ only in their query: calendars have one for each month, without end. */
const MOST_OF_PATH = 10;
/** How old an archived copy of a page that the index found can be. */
const FRESH_MS = 7 * 24 * 3600_000;

export type RunJob = Pick<RunningJob<{ run_id: string }>, 'payload' | 'signal' | 'write'>;
export type Place = { key: string; name: string; state: string | null } | null;

/** The work on one slice of a run. */
export interface Reading {
  discovery: Discovery;
  run: RunRow;
  place: Place;
  subjects: Subject[];
  job: RunJob;
  /** Pages that are being read. */
  busy: Map<number, Promise<void>>;
  browser: { renders: number } | null;
}

/** The run was cancelled or deleted, so nothing more is stored. */
export class RunEnded extends Error {}

/** Whether a run is pending or running. */
export function isOpen({ status }: RunRow): boolean {
  return status === 'pending' || status === 'running';
}

/** Stores something about the run while it is open: a cancelled one stays as it is. */
export async function change<T>({ run, job }: Reading, work: (tx: Tx) => Promise<T>): Promise<T> {
  return job.write(async (tx) => {
    const current = await lockedRun(tx, run.id);
    if (!current || !isOpen(current)) throw new RunEnded();
    return work(tx);
  });
}

/** Adds pages as far as the budgets of the run, of their hosts and of the way in which they were found allow. */
export async function admit({ run }: Reading, tx: Tx, pages: NewPage[]): Promise<void> {
  const budget = BUDGETS[run.depth];
  const known = await knownUrls(tx, run.key, pages.map(({ url }) => url));
  const totals = await pageTotals(tx, run.key);
  const countPath = createPathCount(await urlsWithQuery(tx, run.key));
  const admitted = pages.filter(({ url, host, rank }) => {
    if (known.has(url)) return false;
    known.add(url);
    const [ofHost, ofRank] = [totals.hosts.get(host) ?? 0, totals.ranks.get(rank) ?? 0];
    if (ofHost >= budget.host || totals.all >= budget.pages || ofRank >= budget.pages * (SHARES.get(rank) ?? 1)) return false;
    if (url.includes('?') && countPath(url) > MOST_OF_PATH) return false;
    totals.hosts.set(host, ofHost + 1);
    totals.ranks.set(rank, ofRank + 1);
    totals.all++;
    return true;
  });
  await addPages(tx, run.key, admitted);
  const counts = await pageCounts(tx, run.key);
  const found = counts.read + counts.skipped + counts.waiting;
  await updateRun(tx, run.key, { sources_found: found, sources_fetched: counts.read, sources_skipped: counts.skipped, done: counts.read + counts.skipped, total: found });
}

/** Counts addresses that differ only in their query. */
function createPathCount(urls: string[]): (url: string) => number {
  const counts = new Map<string, number>();
  const count = (url: string): number => {
    const path = url.slice(0, url.indexOf('?'));
    counts.set(path, (counts.get(path) ?? 0) + 1);
    return counts.get(path)!;
  };
  urls.forEach(count);
  return count;
}

/** Reads a page. What was read since the run began is not requested again, and neither is a page that the index found and that has a recent copy. A failure before the run began does not count: it may have been that of another workspace. */
export function readAddress({ discovery, run, job, browser }: Reading, { url, rank }: Pick<PageRow, 'url' | 'rank'>): Promise<Read> {
  const fresh = new Date(discovery.civic.clock.now() - FRESH_MS).toISOString();
  const since = run.started_at!;
  const content_since = rank === rankOf.indexed && fresh < since ? fresh : since;
  return discovery.reader.read({ url, purpose: 'discovery', ...(browser && { browser }), since, content_since, signal: job.signal });
}
