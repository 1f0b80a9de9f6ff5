import { dialectOf, type Reader, type Tx } from 'civic';
import type { SourceClass } from 'civic/firehose';

const TABLE = 'ingest_sources';

export const STATES = ['active', 'paused'] as const;
export const HEALTHS = ['new', 'healthy', 'failing'] as const;
/** How a source was read. */
export const VIAS = ['http', 'browser'] as const;
export type Via = (typeof VIAS)[number];
export type State = (typeof STATES)[number];
export type Health = (typeof HEALTHS)[number];

export interface SourceRow {
  key: number;
  id: string;
  workspace_id: string | null;
  url: string;
  /** What was given, when a better address was found there, such as the calendar file of a page. */
  given_url: string | null;
  name: string;
  platform: string | null;
  place_key: string | null;
  issues: string;
  tags: string;
  cadence_seconds: number | null;
  /** Null when the platform and the address decide. */
  source_class: SourceClass | null;
  state: State;
  health: Health;
  fault: string | null;
  fault_detail: string | null;
  failing_since: string | null;
  failures: number;
  row_count: number;
  last_read_at: string | null;
  last_success_at: string | null;
  last_change_at: string | null;
  applied_hash: string | null;
  applied_at: string | null;
  ignored: string;
  via: Via | null;
  /** What the last read that found changes found, as JSON of `ShownChange`. */
  last_changes: string | null;
  /** One bit for each of the last ten reads, the latest lowest: whether it found changes. */
  change_bits: number | null;
  /** Whether the last read left rows out, because there were too many. Null before it was read. */
  has_left_out: 0 | 1 | boolean | null;
  /** When the owner last got a mail about it. Stays when it is read well again, so that one which fails now and then is not mailed each time. */
  reminded_at: string | null;
  created_at: string;
  updated_at: string;
  created_by: string | null;
}

export type NewSource = Omit<SourceRow, 'key'>;

/** The sources of one workspace; with null those of the operator. */
export interface SourceFilter {
  workspace_id: string | null;
  state?: State;
  health?: Health;
  tag?: string;
}

export async function insertSource(tx: Tx, row: NewSource): Promise<SourceRow> {
  const [stored] = await tx(TABLE).insert(row).returning('*');
  return stored as SourceRow;
}

export async function updateSource(tx: Tx, key: number, changes: Partial<NewSource>): Promise<SourceRow> {
  const [stored] = await tx(TABLE).where({ key }).update(changes).returning('*');
  return stored as SourceRow;
}

export async function deleteSource(tx: Tx, key: number): Promise<void> {
  await tx(TABLE).where({ key }).delete();
}

export async function sourceById(reader: Reader, id: string): Promise<SourceRow | undefined> {
  return reader(TABLE).where({ id }).first('*');
}

/** Reads a source that the transaction is about to change. */
export async function lockedSource(tx: Tx, id: string): Promise<SourceRow | undefined> {
  const query = tx(TABLE).where({ id });
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.first('*');
}

const OPERATOR_TOTAL = '00000000-0000-0000-0000-000000000000';

/** Lets writers of one owner wait for each other until the transaction ends, so that none adds an address while another one adds the same. */
export async function lockAddresses(tx: Tx, workspaceId: string | null): Promise<void> {
  await addToTotal(tx, workspaceId ?? OPERATOR_TOTAL, 0);
}

/** Returns the source that watches an address, or a better one that was found there. `exceptId` is of a source that does not count. */
export async function sourceByUrl(reader: Reader, workspaceId: string | null, url: string, exceptId: string | null = null): Promise<SourceRow | undefined> {
  const query = reader(TABLE).where({ workspace_id: workspaceId }).where((either) => either.where({ url }).orWhere({ given_url: url }));
  if (exceptId !== null) query.whereNot({ id: exceptId });
  return query.first('*');
}

export async function sourcesPage(reader: Reader, filter: SourceFilter, { before, limit }: { before: number | null; limit: number }): Promise<{ rows: SourceRow[]; total: number }> {
  const matching = () => {
    const query = reader(TABLE).where({ workspace_id: filter.workspace_id });
    if (filter.state) query.where({ state: filter.state });
    if (filter.health) query.where({ health: filter.health });
    // Tags are words of letters and digits, so a quoted one is found as a part of the JSON.
    if (filter.tag) query.whereRaw(`${dialectOf(reader) === 'postgres' ? 'tags::text' : 'tags'} like ?`, [`%"${filter.tag}"%`]);
    return query;
  };
  const page = matching().orderBy('key', 'desc').limit(limit);
  if (before !== null) page.where('key', '<', before);
  const [count] = await matching().count('* as total');
  return { rows: await page.select('*'), total: Number(count!.total) };
}

/** Adds to the number of sources of a workspace, and returns it. The row stays locked until the transaction ends. */
export async function addToTotal(tx: Tx, workspaceId: string, amount: number): Promise<number> {
  const [row] = await tx('ingest_totals').insert({ workspace_id: workspaceId, total: amount })
    .onConflict('workspace_id').merge({ total: tx.raw('ingest_totals.total + ?', [amount]) }).returning('total');
  return Number(row.total);
}

export async function totalOf(reader: Reader, workspaceId: string): Promise<number> {
  const row = await reader('ingest_totals').where({ workspace_id: workspaceId }).first('total');
  return Number(row?.total ?? 0);
}

export async function deleteSourcesOf(tx: Tx, workspaceId: string): Promise<string[]> {
  const ids: string[] = await tx(TABLE).where({ workspace_id: workspaceId }).pluck('id');
  await tx(TABLE).where({ workspace_id: workspaceId }).delete();
  await tx('ingest_totals').where({ workspace_id: workspaceId }).delete();
  return ids;
}

/** Returns the health of the public sources of a place. Paused ones do not count. */
export async function countInPlace(reader: Reader, placeKey: string): Promise<{ total: number; healthy: number; failing: number; last_success_at: string | null }> {
  const rows: { health: Health; count: number | string; last: string | null }[] = await reader(TABLE).where({ place_key: placeKey, workspace_id: null, state: 'active' })
    .groupBy('health').select('health').count('* as count').max('last_success_at as last');
  const count = (health: Health) => Number(rows.find((row) => row.health === health)?.count ?? 0);
  return {
    total: rows.reduce((sum, row) => sum + Number(row.count), 0),
    healthy: count('healthy'),
    failing: count('failing'),
    last_success_at: rows.map(({ last }) => last).filter((last) => last !== null).toSorted().at(-1) ?? null,
  };
}

/** Returns the addresses of the sources of a place: public ones, and those of a workspace. */
export async function addressesOf(reader: Reader, { place_key, workspace_id }: { place_key: string; workspace_id: string | null }): Promise<string[]> {
  const query = reader(TABLE).where({ place_key, state: 'active' }).orderBy('key').limit(100);
  return query.where((owned) => owned.whereNull('workspace_id').orWhere({ workspace_id })).pluck('url');
}

/** Returns how many sources a workspace has, and how many of them fail. */
export async function countSources(reader: Reader, workspaceId: string): Promise<{ count: number; failing: number }> {
  const [failing] = await reader(TABLE).where({ workspace_id: workspaceId, state: 'active', health: 'failing' }).count('* as count');
  return { count: await totalOf(reader, workspaceId), failing: Number(failing!.count) };
}

/** Returns how many sources of the operator fail, and what is wrong with the one that has failed for longest. */
export async function countFailing(reader: Reader): Promise<{ count: number; detail: string | null }> {
  const failing = () => reader(TABLE).where({ workspace_id: null, state: 'active', health: 'failing' });
  const [total] = await failing().count('* as count');
  const first = await failing().orderBy('failing_since').first('name', 'fault_detail');
  return { count: Number(total!.count), detail: first ? `${first.name}: ${first.fault_detail}` : null };
}
