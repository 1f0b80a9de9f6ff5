import type { Reader } from 'civic';
import type { Signal } from 'civic/firehose';
import type { WorkspaceContext } from '../context.ts';
import { countDigest, digestPage, latestDeliveries, watchesByKey, type DeliveryRow, type DigestFilter, type WatchRow } from './store.ts';
import type { SubscriberRow } from './subscribers-store.ts';
import type { Delivery, Watch } from './types.ts';
import type { Watches } from './watches.ts';

/** A signal that watches matched. */
export interface DigestItem {
  matched_at: string;
  is_update: boolean;
  watches: Pick<Watch, 'id' | 'target'>[];
  signal: Signal;
}

export interface DigestPage {
  items: DigestItem[];
  total: number;
  next: number | null;
}

/** Returns what the watches of a workspace matched, the latest first. */
export async function readDigest(watches: Watches, reader: Reader, context: WorkspaceContext, filter: DigestFilter, page: { before: number | null; limit: number }): Promise<DigestPage> {
  const rows = await digestPage(reader, context.workspace.id, filter, { before: page.before, limit: page.limit + 1 });
  const seqs = [...new Set(rows.map(({ seq }) => Number(seq)))];
  const shown = new Set(seqs.slice(0, page.limit));
  return {
    items: await digestItems(watches, reader, context, rows.filter(({ seq }) => shown.has(Number(seq)))),
    total: await countDigest(reader, context.workspace.id, filter),
    next: seqs.length > page.limit ? seqs[page.limit - 1]! : null,
  };
}

/** Returns the latest signals for one member. */
export async function readLatest(watches: Watches, reader: Reader, context: WorkspaceContext, subscriber: SubscriberRow, limit: number): Promise<DigestItem[]> {
  return digestItems(watches, reader, context, await latestDeliveries(reader, subscriber.key, limit));
}

/**
 * Returns deliveries with their signals, each signal once, in the order of the rows. `delivery`, for mails, leaves out watches of other kinds, signals that only those
 * matched, and signals that have a newer version: that version has a delivery of its own, and would be mailed twice.
 */
export async function digestItems(watches: Watches, reader: Reader, context: WorkspaceContext, rows: DeliveryRow[], delivery?: Delivery): Promise<DigestItem[]> {
  const signals = await watches.firehose.signalsById(reader, [...new Set(rows.map(({ signal_id }) => signal_id))], context.workspace.id);
  const kept = (await watchesByKey(reader, [...new Set(rows.flatMap(keysOf))])).filter((row) => row.delivery !== 'muted' && (delivery === undefined || row.delivery === delivery));
  const shown = await watches.show(reader, context, kept);
  const byKey = new Map(kept.map((row: WatchRow, index) => [Number(row.key), shown[index]!]));
  const items = new Map<number, DigestItem>();
  for (const row of rows) {
    const current = signals.get(row.signal_id);
    const signal = delivery !== undefined && current?.seq !== Number(row.seq) ? undefined : current?.signal;
    const found = keysOf(row).flatMap((key) => byKey.get(key) ?? []).map(({ id, target }) => ({ id, target }));
    const item = items.get(Number(row.seq));
    if (item) item.watches.push(...found);
    else if (signal && found.length > 0) items.set(Number(row.seq), { matched_at: row.at, is_update: Boolean(row.is_update), watches: found, signal });
  }
  return [...items.values()];
}

function keysOf({ watch_keys }: DeliveryRow): number[] {
  return JSON.parse(watch_keys) as number[];
}
