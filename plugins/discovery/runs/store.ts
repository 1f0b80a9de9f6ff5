import { dialectOf, type Reader, type Tx } from 'civic';

const TABLE = 'discovery_runs';

export const STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export const ORIGINS = ['request', 'schedule', 'watched_source', 'sync'] as const;
export const DEPTHS = ['standard', 'deep'] as const;
export type Status = (typeof STATUSES)[number];

export interface RunRow {
  key: number;
  id: string;
  workspace_id: string | null;
  account_id: string | null;
  origin: (typeof ORIGINS)[number];
  origin_id: string | null;
  status: Status;
  location: string;
  place_key: string | null;
  issue_areas: string;
  depth: (typeof DEPTHS)[number];
  phase: string | null;
  done: number;
  total: number;
  queries: number;
  sources_found: number;
  sources_fetched: number;
  sources_skipped: number;
  candidates: number;
  duplicates: number;
  error_code: string | null;
  error_detail: string | null;
  job_id: string | null;
  /** How many pages were rendered in a browser; null before the first. */
  renders?: number | null;
  /** JSON of `Gap[]`; null until the run is completed. */
  gaps?: string | null;
  /** JSON of a `SyncRecord`, for a run of a local tool. */
  sync?: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
}

/** The runs of one workspace; with null those of the operator. */
export interface RunFilter {
  workspace_id: string | null;
  account_id?: string;
  status?: Status;
}

export async function insertRun(tx: Tx, row: Omit<RunRow, 'key'>): Promise<RunRow> {
  const [stored] = await tx(TABLE).insert(row).returning('*');
  return stored as RunRow;
}

export async function updateRun(tx: Tx, key: number, changes: Partial<Omit<RunRow, 'key'>>): Promise<void> {
  await tx(TABLE).where({ key }).update(changes);
}

/** Adds to the counts of a run. */
export async function addToCounts(tx: Tx, key: number, counts: Partial<Pick<RunRow, 'candidates' | 'duplicates'>>): Promise<void> {
  await tx(TABLE).where({ key }).increment(counts);
}

export async function runById(reader: Reader, id: string): Promise<RunRow | undefined> {
  return reader(TABLE).where({ id }).first('*');
}

export async function runsByKey(reader: Reader, keys: number[]): Promise<RunRow[]> {
  return reader(TABLE).whereIn('key', keys).select('*');
}

/** Reads a run that the transaction is about to change. */
export async function lockedRun(tx: Tx, id: string): Promise<RunRow | undefined> {
  const query = tx(TABLE).where({ id });
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.first('*');
}

/** Reads the run of an origin, and locks it until the transaction ends: its candidates are added by one writer at a time. */
export async function lockedRunOf(tx: Tx, originId: string): Promise<RunRow | undefined> {
  const query = tx(TABLE).where({ origin_id: originId });
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.first('*');
}

export async function runsPage(reader: Reader, { workspace_id, account_id, status }: RunFilter, { before, limit }: { before: number | null; limit: number }): Promise<{ rows: RunRow[]; total: number }> {
  const matching = () => {
    const query = reader(TABLE).where({ workspace_id });
    if (account_id !== undefined) query.where({ account_id });
    if (status !== undefined) query.where({ status });
    return query;
  };
  const page = matching().orderBy('key', 'desc').limit(limit);
  if (before !== null) page.where('key', '<', before);
  const [count] = await matching().count('* as total');
  return { rows: await page.select('*'), total: Number(count!.total) };
}

export async function deleteRun(tx: Tx, key: number): Promise<void> {
  await tx(TABLE).where({ key }).delete();
}

export async function deleteRunsOf(tx: Tx, workspaceId: string): Promise<void> {
  await tx(TABLE).where({ workspace_id: workspaceId }).delete();
}

/** Runs about a place that were started for the operator; those of watched sources are no searches. */
function operatorRuns(reader: Reader) {
  return reader(TABLE).where({ workspace_id: null }).whereIn('origin', ['request', 'schedule']);
}

/** Returns the latest run of the operator about a place. */
export async function latestPublicRun(reader: Reader, placeKey: string): Promise<Pick<RunRow, 'status' | 'completed_at'> | null> {
  return await operatorRuns(reader).where({ place_key: placeKey }).orderBy('key', 'desc').first('status', 'completed_at') ?? null;
}

/** Returns the runs of the operator since a time that did not fail. */
export async function publicRunsSince(reader: Reader, since: string): Promise<Pick<RunRow, 'place_key' | 'issue_areas'>[]> {
  return operatorRuns(reader).whereNot({ status: 'failed' }).where('created_at', '>=', since).select('place_key', 'issue_areas');
}

/** Returns a scheduled run about a place and issue areas that has not ended. */
export async function openScheduledRun(reader: Reader, placeKey: string, issueAreas: string[]): Promise<RunRow | undefined> {
  const open: RunRow[] = await reader(TABLE).where({ workspace_id: null, origin: 'schedule', place_key: placeKey }).whereIn('status', ['pending', 'running']).select('*');
  return open.find(({ issue_areas }) => (JSON.parse(issue_areas) as string[]).toSorted().join() === issueAreas.toSorted().join());
}

/** The keys of runs that ended before a time, as a query. A run of a local tool can have ended long before it arrived here. */
export function endedBefore(tx: Tx, before: string) {
  return tx(TABLE).whereIn('status', ['completed', 'failed']).where('completed_at', '<', before).where('created_at', '<', before).select('key');
}
