import { isId, problem, singleLine, type Reader } from 'civic';
import { decisionCounts, type DecisionCounts } from '../candidates/store.ts';
import type { Discovery, Owner } from '../context.ts';
import type { Gap } from '../engine/gaps.ts';
import type { SyncRecord } from '../syncs/sync.ts';
import { runById, runsPage, type RunFilter, type RunRow } from './store.ts';

export const RUNS = '/api/discovery-runs';

/** Returns a run of the owner; those of others do not exist for the caller. */
export async function foundRun(reader: Reader, owner: Owner, id: string): Promise<RunRow> {
  const row = isId(id) ? await runById(reader, id.toLowerCase()) : undefined;
  if (!row || row.workspace_id !== owner.workspace_id) throw problem('unknown_run', { detail: `No discovery run here has the id ${singleLine(id, 100)}.` });
  return row;
}

export type ShownRun = Awaited<ReturnType<typeof shownRuns>>[number];

export async function shownRuns({ civic }: Discovery, reader: Reader, rows: RunRow[]) {
  const decisions = await decisionCounts(reader, rows.map(({ key }) => key));
  return rows.map((row) => shownRun(row, decisions.get(Number(row.key)) ?? { pending: 0, decided: 0 }, civic.url));
}

/** Returns one page of runs, the latest first. */
export async function shownPage(discovery: Discovery, reader: Reader, filter: RunFilter, { before, limit }: { before: number | null; limit: number }) {
  const { rows, total } = await runsPage(reader, filter, { before, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return { data: await shownRuns(discovery, reader, page), total, next: rows.length > limit ? Number(page.at(-1)!.key) : null };
}

function shownRun(row: RunRow, { pending, decided }: DecisionCounts, url: (path: string) => string) {
  const { id, status, location, depth, queries, sources_found, sources_fetched, sources_skipped, candidates, duplicates, created_at, started_at, completed_at } = row;
  const sync = row.sync ? JSON.parse(row.sync) as SyncRecord : null;
  // Runs of the operator are found only by requests that ask for them.
  const query = row.workspace_id === null ? '?visibility=public' : '';
  return {
    id, status,
    origin: { type: row.origin, id: sync?.local_run_id ?? row.origin_id },
    sync,
    location,
    place: row.place_key,
    issue_areas: JSON.parse(row.issue_areas) as string[],
    depth,
    progress: { phase: row.phase, done: Number(row.done), total: Number(row.total) },
    counts: { queries, sources_found, sources_fetched, sources_skipped, candidates, duplicates, actors_proposed: pending },
    error: row.error_code === null ? null : { code: row.error_code, detail: row.error_detail ?? '' },
    gaps: JSON.parse(row.gaps ?? '[]') as Gap[],
    visibility: row.workspace_id === null ? 'public' as const : 'workspace' as const,
    review_state: reviewState(pending, decided),
    created_at, started_at, completed_at,
    links: { self: url(`${RUNS}/${id}${query}`), candidates: url(`${RUNS}/${id}/candidates${query}`), sources: url(`${RUNS}/${id}/sources${query}`), events: url(`${RUNS}/${id}/events${query}`) },
  };
}

function reviewState(pending: number, decided: number): 'unreviewed' | 'in_review' | 'reviewed' {
  if (decided === 0) return 'unreviewed';
  return pending > 0 ? 'in_review' : 'reviewed';
}
