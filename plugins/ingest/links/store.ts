import { bulkInsert, dialectOf, type Reader, type Tx } from 'civic';

const TABLE = 'ingest_links';

/** `new` was not checked yet. `failing` counts as `broken` after some failures. `blocked` does not let programs check it. */
export const LINK_STATES = ['new', 'ok', 'moved', 'failing', 'broken', 'blocked'] as const;
export type LinkState = (typeof LINK_STATES)[number];

export interface LinkRow {
  source_id: string;
  host: string;
  added_at: string;
  next_at: string;
  state: LinkState;
  failures: number;
  failing_since: string | null;
  checked_at: string | null;
  reached_at: string | null;
  reason: string | null;
  detail: string | null;
  moved_to: string | null;
  content_hash: string | null;
  text_hash: string | null;
  is_flag_due: boolean | 0 | 1;
  flag_id: string | null;
  flagged_at: string | null;
}

export async function knownLinks(reader: Reader, ids: string[]): Promise<Set<string>> {
  return new Set(await reader(TABLE).whereIn('source_id', ids).pluck('source_id') as string[]);
}

/** Adds links to check. `next_at` orders them: the oldest are checked first. */
export async function insertLinks(tx: Tx, links: Pick<LinkRow, 'source_id' | 'host' | 'added_at' | 'next_at'>[]): Promise<void> {
  await bulkInsert(tx, TABLE, links.map((link) => ({
    ...link, state: 'new', failures: 0, failing_since: null, checked_at: null, reached_at: null, reason: null, detail: null, moved_to: null, content_hash: null, text_hash: null, is_flag_due: false, flag_id: null, flagged_at: null,
  })), { onConflict: 'ignore' });
}

/** Returns links whose time has come, the longest overdue first. A time after `latest` was written while a clock was ahead. */
export async function dueLinks(reader: Reader, { now, latest, added_before, limit }: { now: string; latest: string; added_before: string; limit: number }): Promise<LinkRow[]> {
  return reader(TABLE).where((due) => due.where('next_at', '<=', now).orWhere('next_at', '>', latest)).where('added_at', '<=', added_before).orderBy('next_at').limit(limit).select('*');
}

export async function countLinks(reader: Reader): Promise<number> {
  const [row] = await reader(TABLE).count('* as total');
  return Number(row!.total);
}

export async function linkById(reader: Reader, id: string): Promise<LinkRow | undefined> {
  return reader(TABLE).where({ source_id: id }).first('*');
}

/** Reads a link that the transaction is about to change. */
export async function lockedLink(tx: Tx, id: string): Promise<LinkRow | undefined> {
  const query = tx(TABLE).where({ source_id: id });
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.first('*');
}

export async function updateLink(tx: Tx, id: string, changes: Partial<LinkRow>): Promise<void> {
  await tx(TABLE).where({ source_id: id }).update(changes);
}

export async function deleteLink(tx: Tx, id: string): Promise<void> {
  await tx(TABLE).where({ source_id: id }).delete();
}

/** Returns links that were reached most recently. */
export async function reachedLinks(reader: Reader, limit: number): Promise<LinkRow[]> {
  return reader(TABLE).whereIn('state', ['ok', 'moved']).orderBy('reached_at', 'desc').limit(limit).select('*');
}

/** Returns broken links that reviewers have no flag about yet, those that failed first. */
export async function linksToFlag(reader: Reader, limit: number): Promise<LinkRow[]> {
  return reader(TABLE).where({ is_flag_due: true }).orderBy('failing_since').limit(limit).select('*');
}

export async function countFlaggedSince(reader: Reader, since: string): Promise<number> {
  const [row] = await reader(TABLE).where('flagged_at', '>', since).count('* as total');
  return Number(row!.total);
}

/** Returns how many links are in each state. */
export async function countStates(reader: Reader): Promise<Record<LinkState, number>> {
  const rows: { state: LinkState; total: number | string }[] = await reader(TABLE).groupBy('state').select('state').count('* as total');
  return Object.fromEntries(LINK_STATES.map((state) => [state, Number(rows.find((row) => row.state === state)?.total ?? 0)])) as Record<LinkState, number>;
}

/** Returns links of a state in the order of their ids, after one of them. */
export async function linksInState(reader: Reader, state: LinkState, { after, limit }: { after: string | null; limit: number }): Promise<LinkRow[]> {
  const page = reader(TABLE).where({ state }).orderBy('source_id').limit(limit);
  if (after !== null) page.where('source_id', '>', after);
  return page.select('*');
}
