import { exceededHeaders, newId, problem, singleLine, type Caller, type Tx } from 'civic';
import type { Discovery, Owner } from '../context.ts';
import { pageAt, rankOf } from '../engine/frontier.ts';
import { addPages, type NewPage } from './pages-store.ts';
import { addRuns } from './quota-store.ts';
import { insertRun, updateRun, type RunRow } from './store.ts';

export const RUN_JOB = 'discovery.run';
/** Reads of watched sources come first. */
export const RUN_PRIORITY = { priority: -1 };

export interface NewRun {
  location: string;
  issue_areas: string[];
  depth: RunRow['depth'];
  seeds: string[];
}

/** Starts a run of a workspace; with null one of the operator, which has no quota. Throws `invalid_request` for a place or issue area that does not exist, and `run_quota_spent`. */
export async function startRun(discovery: Discovery, tx: Tx, by: Pick<Caller, 'account_id' | 'plan'> & Owner, given: NewRun): Promise<RunRow> {
  const { workspace_id, account_id, plan } = by;
  if (workspace_id === null) return begin(discovery, tx, given, { workspace_id, account_id: null, origin: 'request' });
  await countRun(discovery, tx, workspace_id, plan);
  return begin(discovery, tx, given, { workspace_id, account_id, origin: 'request' });
}

/** Starts a run of a schedule of the operator. */
export async function startScheduledRun(discovery: Discovery, tx: Tx, given: NewRun): Promise<RunRow> {
  return begin(discovery, tx, given, { workspace_id: null, account_id: null, origin: 'schedule' });
}

async function begin(discovery: Discovery, tx: Tx, { location, issue_areas, depth, seeds }: NewRun, by: Pick<RunRow, 'workspace_id' | 'account_id' | 'origin'>): Promise<RunRow> {
  const { civic, directory } = discovery;
  const { place, candidates } = await directory.resolvePlace(tx, location);
  if (!place) throw unknownLocation(location, candidates.map(({ display_name }) => display_name));
  checkIssues(discovery, issue_areas);
  const pages = seeds.map(seedPage);
  const run = await insertRun(tx, {
    ...by, id: newId(civic.clock.now()), origin_id: null, status: 'pending', location, place_key: place.place_key, issue_areas: JSON.stringify(issue_areas), depth,
    phase: null, done: 0, total: 0, queries: 0, sources_found: 0, sources_fetched: 0, sources_skipped: 0, candidates: 0, duplicates: 0, error_code: null, error_detail: null, job_id: null,
    created_at: civic.clock.iso(), started_at: null, completed_at: null,
  });
  await addPages(tx, run.key, pages);
  const job_id = await civic.jobs.enqueue(tx, RUN_JOB, { run_id: run.id }, RUN_PRIORITY);
  await updateRun(tx, run.key, { job_id });
  return { ...run, job_id };
}

async function countRun({ civic, accounts }: Discovery, tx: Tx, workspaceId: string, plan: string): Promise<void> {
  const most = accounts?.limitOf(plan, 'discovery_runs') ?? Infinity;
  const now = civic.clock.now();
  if (await addRuns(tx, workspaceId, monthOf(now), 1) <= most) return;
  throw problem('run_quota_spent', { detail: `The plan ${plan} has ${most} discovery runs a month, and all are used.`, headers: exceededHeaders({ limit: most, resetAt: nextMonth(now), now }) });
}

function seedPage(url: string, at: number): NewPage {
  const page = pageAt(url);
  if (!page) throw problem('invalid_request', { errors: [{ pointer: `/seeds/${at}`, detail: 'must be the address of a public page, without a password or a key' }] });
  return { ...page, rank: rankOf.seed };
}

function checkIssues({ directory }: Discovery, slugs: string[]): void {
  slugs.forEach((slug, at) => {
    if (directory.issueName(slug) === null) throw problem('invalid_request', { errors: [{ pointer: `/issue_areas/${at}`, detail: `"${singleLine(slug, 100)}" is no issue area; /api/issue-areas lists them` }] });
  });
}

function unknownLocation(location: string, suggestions: string[]): Error {
  const nearest = suggestions.length > 0 ? `; did you mean ${suggestions.slice(0, 5).join('; ')}?` : ', such as St. Louis, Missouri';
  return problem('invalid_request', { errors: [{ pointer: '/location', detail: `"${singleLine(location, 100)}" names no place for certain${nearest}` }], extra: { suggestions } });
}

/** Returns the month of a time in UTC, such as `2026-02`. */
export function monthOf(time: number): string {
  return new Date(time).toISOString().slice(0, 7);
}

/** Returns when the next month begins in UTC. */
export function nextMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
