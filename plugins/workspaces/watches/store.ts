import { bulkInsert, type Reader, type Tx } from 'civic';
import type { RecordRow } from '../records/store.ts';
import type { SignalKeys, WatchKey } from './keys.ts';
import type { Delivery, TargetType } from './types.ts';

export interface WatchRow extends RecordRow {
  subscriber_key: number;
  target_type: TargetType;
  target_id: string | null;
  query: string | null;
  compared: string | null;
  target_hash: string;
  delivery: Delivery;
}

export type MatchedWatch = Pick<WatchRow, 'key' | 'workspace_id' | 'subscriber_key' | 'delivery' | 'compared'>;

export interface DeliveryRow {
  subscriber_key: number;
  seq: number;
  workspace_id: string;
  signal_id: string;
  is_update: boolean | 0 | 1;
  /** JSON: the keys of the watches of the subscriber that the signal matched. */
  watch_keys: string;
  at: string;
}

const WATCHES = 'workspaces_watches';
const KEYS = 'workspaces_watch_keys';
const DELIVERIES = 'workspaces_deliveries';

export async function insertKeys(tx: Tx, watchKey: number, keys: WatchKey[]): Promise<void> {
  if (keys.length > 0) await bulkInsert(tx, KEYS, keys.map((key) => ({ ...key, watch_key: watchKey })));
}

export async function deleteKeys(tx: Tx, watchKey: number): Promise<void> {
  await tx(KEYS).where({ watch_key: watchKey }).delete();
}

export async function watchWithTarget(reader: Reader, subscriberKey: number, targetHash: string): Promise<WatchRow | undefined> {
  return reader(WATCHES).where({ subscriber_key: subscriberKey, target_hash: targetHash }).first() as Promise<WatchRow | undefined>;
}

export async function watchesOn(reader: Reader, type: TargetType, ids: string[]): Promise<WatchRow[]> {
  return reader(WATCHES).where({ target_type: type }).whereIn('target_id', ids) as unknown as Promise<WatchRow[]>;
}

/** Returns the watches on entities that the index has under a subject. */
export async function entityWatchesUnder(reader: Reader, subject: string): Promise<WatchRow[]> {
  return reader(WATCHES).where({ target_type: 'entity' }).whereIn('key', reader(KEYS).where({ subject }).select('watch_key')) as unknown as Promise<WatchRow[]>;
}

export async function setCompared(tx: Tx, watchKey: number, compared: string | null): Promise<void> {
  await tx(WATCHES).where({ key: watchKey }).update({ compared });
}

export async function watchesByKey(reader: Reader, keys: number[]): Promise<WatchRow[]> {
  return (keys.length === 0 ? [] : reader(WATCHES).whereIn('key', keys).orderBy('key')) as Promise<WatchRow[]>;
}

/** Returns the watches that the index has under the values of a signal, without muted ones. `workspaceId` is null for a public signal. */
export async function indexedWatches(tx: Tx, { subjects, issues, types }: SignalKeys, workspaceId: string | null): Promise<MatchedWatch[]> {
  const query = tx(`${KEYS} as keys`).join(`${WATCHES} as watches`, 'watches.key', 'keys.watch_key')
    .whereIn('keys.subject', subjects).whereIn('keys.issue', issues).whereIn('keys.type', types).whereNot('watches.delivery', 'muted')
    .select('watches.key', 'watches.workspace_id', 'watches.subscriber_key', 'watches.delivery', 'watches.compared');
  if (workspaceId !== null) query.where('watches.workspace_id', workspaceId);
  const rows = await query as MatchedWatch[];
  return [...new Map(rows.map((row) => [row.key, row])).values()];
}

/** Adds keys of an actor to the watches that have those of another, which was merged into it. */
export async function copySubject(tx: Tx, from: string, to: string): Promise<void> {
  const rows: { watch_key: number }[] = await tx(KEYS).where({ subject: from }).select('watch_key');
  if (rows.length > 0) await tx(KEYS).insert(rows.map(({ watch_key }) => ({ subject: to, issue: '', type: '', watch_key }))).onConflict().ignore();
}

export async function insertDeliveries(tx: Tx, rows: DeliveryRow[]): Promise<void> {
  if (rows.length > 0) await bulkInsert(tx, DELIVERIES, rows);
}

export async function deleteDeliveriesOfSignal(tx: Tx, signalId: string): Promise<void> {
  await tx(DELIVERIES).where({ signal_id: signalId }).delete();
}

export async function deleteDeliveriesBefore(tx: Tx, at: string): Promise<void> {
  await tx(DELIVERIES).where('at', '<', at).delete();
}

/** Returns the oldest deliveries to a subscriber after an entry of the log. */
export async function deliveriesAfter(reader: Reader, subscriberKey: number, seq: number, limit: number): Promise<DeliveryRow[]> {
  return reader(DELIVERIES).where({ subscriber_key: subscriberKey }).where('seq', '>', seq).orderBy('seq').limit(limit) as unknown as Promise<DeliveryRow[]>;
}

/** Returns the newest deliveries to a subscriber after an entry of the log, the oldest first, and how many there were before them. */
export async function newestDeliveriesAfter(reader: Reader, subscriberKey: number, seq: number, limit: number): Promise<{ rows: DeliveryRow[]; skipped: number }> {
  const after = () => reader(DELIVERIES).where({ subscriber_key: subscriberKey }).where('seq', '>', seq);
  const rows = await after().orderBy('seq', 'desc').limit(limit) as DeliveryRow[];
  const total = rows.length < limit ? rows.length : Number((await after().count({ count: '*' }).first())!.count);
  return { rows: rows.reverse(), skipped: total - rows.length };
}

export async function latestDeliveries(reader: Reader, subscriberKey: number, limit: number): Promise<DeliveryRow[]> {
  return reader(DELIVERIES).where({ subscriber_key: subscriberKey }).orderBy('seq', 'desc').limit(limit) as unknown as Promise<DeliveryRow[]>;
}

export interface DigestFilter {
  since?: string;
  until?: string;
}

function digestOf(reader: Reader, workspaceId: string, { since, until }: DigestFilter) {
  const query = reader(DELIVERIES).where({ workspace_id: workspaceId });
  if (since !== undefined) query.where('at', '>=', since);
  if (until !== undefined) query.where('at', '<', until);
  return query;
}

/** Returns deliveries to the members of a workspace, the latest first: all of each of the `limit` entries before `before`. */
export async function digestPage(reader: Reader, workspaceId: string, filter: DigestFilter, page: { before: number | null; limit: number }): Promise<DeliveryRow[]> {
  const entries = digestOf(reader, workspaceId, filter).groupBy('seq').orderBy('seq', 'desc').limit(page.limit).select('seq');
  if (page.before !== null) entries.where('seq', '<', page.before);
  const seqs = (await entries as { seq: number }[]).map(({ seq }) => seq);
  return (seqs.length === 0 ? [] : reader(DELIVERIES).where({ workspace_id: workspaceId }).whereIn('seq', seqs).orderBy([{ column: 'seq', order: 'desc' }, 'subscriber_key'])) as Promise<DeliveryRow[]>;
}

export async function countDigest(reader: Reader, workspaceId: string, filter: DigestFilter): Promise<number> {
  return Number((await digestOf(reader, workspaceId, filter).countDistinct({ count: 'seq' }).first())!.count);
}

/** Deletes the watches of a workspace, and all that they delivered. */
export async function forgetWatches(tx: Tx, workspaceId: string): Promise<void> {
  const subscribers = tx('workspaces_subscribers').where({ workspace_id: workspaceId }).select('key');
  await tx(KEYS).whereIn('watch_key', tx(WATCHES).where({ workspace_id: workspaceId }).select('key')).delete();
  await tx(WATCHES).where({ workspace_id: workspaceId }).delete();
  await tx(DELIVERIES).whereIn('subscriber_key', subscribers).delete();
  await tx('workspaces_unsubscribes').whereIn('subscriber_key', subscribers).delete();
  await tx('workspaces_subscribers').where({ workspace_id: workspaceId }).delete();
}

export async function positionOf(reader: Reader): Promise<number | null> {
  const row = await reader('workspaces_position').where({ id: 1 }).first('seq') as { seq: number } | undefined;
  return row ? Number(row.seq) : null;
}

/** Locks the position until the transaction ends: of several nodes one compares an entry. */
export async function lockedPosition(tx: Tx): Promise<number> {
  const row = await tx('workspaces_position').where({ id: 1 }).forUpdate().first('seq') as { seq: number };
  return Number(row.seq);
}

export async function createPosition(tx: Tx, seq: number): Promise<void> {
  await tx('workspaces_position').insert({ id: 1, seq }).onConflict('id').ignore();
}

export async function movePosition(tx: Tx, seq: number): Promise<void> {
  await tx('workspaces_position').where({ id: 1 }).update({ seq });
}
