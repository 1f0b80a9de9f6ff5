import type { Entry, Log } from '../log/log.ts';
import { deliveryOf, type Delivery } from '../query/filter.ts';
import type { Place } from '../query/matcher.ts';
import type { Subscription } from '../query/subscription.ts';
import type { Metering } from '../usage/meter.ts';
import { batchOf, eventId, heartbeatBytes, type Batch, type Context, type Format } from './frames.ts';
import type { Member } from './member.ts';

/** All who asked the same question: what they are told is made once. */
export interface Group {
  subscription: Subscription;
  place: Place<Group>;
  /** Those who have everything and get what is new. */
  live: Set<Member>;
  /** Whatever keeps the group: members, live or not, and waits. */
  holders: number;
  waits: Set<() => void>;
  pending: Delivery[];
  isFlushing: boolean;
  texts: { query: string; workspace: string };
  /** What was made for one and may serve others of the same moment. */
  pages: Map<number, Page>;
  heartbeat: { at: number; id: string; bytes: Partial<Record<Format, Buffer>> };
}

/** A part of the log as its group is told it. */
export interface Page {
  made: number;
  /** Null when nothing in it matched. */
  batch: Batch | null;
  first: number;
  last: number;
}

/** Pages begin at multiples of this, so that many who replay share them. */
export const PAGE_LINES = 128;
const PAGE_MS = 1000;
const BATCH_CHARS = 64 * 1024;
const PAGE_CHARS = 384 * 1024;

export interface GroupContext {
  log: Log;
  meter: Metering;
  now(): number;
}

export function newGroup(subscription: Subscription, place: (group: Group) => Place<Group>): Group {
  const group = {
    subscription, live: new Set<Member>(), holders: 0, waits: new Set<() => void>(), pending: [], isFlushing: false, pages: new Map<number, Page>(),
    texts: { query: JSON.stringify(subscription.query), workspace: JSON.stringify(subscription.workspace) },
    heartbeat: { at: -1, id: '', bytes: {} },
  } as unknown as Group;
  group.place = place(group);
  return group;
}

export function contextOf({ subscription: { workspace, fingerprint }, texts }: Group, { meter, now }: GroupContext): Context {
  const usage = { meter: workspace && meter.of(workspace.id), query_fingerprint: fingerprint };
  return { ...texts, usage: JSON.stringify(usage), delivered_at: new Date(now()).toISOString() };
}

/** The oldest of what waits, as much as goes out in one piece. */
export function takePending(group: Group, context: GroupContext): Batch {
  let count = 0;
  for (let size = 0; count < group.pending.length && size < BATCH_CHARS; count++) size += group.pending[count]!.version.json.length + 1000;
  return batchOf(context.log.epoch(), group.pending.splice(0, count), contextOf(group, context));
}

/** What the group is told of the lines after `seq`, up to the end of a page. */
export async function pageAfter(group: Group, seq: number, context: GroupContext): Promise<Page> {
  const made = context.now();
  const known = group.pages.get(seq);
  if (known && made - known.made < PAGE_MS) return known;
  const end = (Math.floor(seq / PAGE_LINES) + 1) * PAGE_LINES;
  const entries = await context.log.read(seq, end - seq);
  const { deliveries, last } = deliveriesOf(entries, group, seq);
  const batch = deliveries.length > 0 ? batchOf(context.log.epoch(), deliveries, contextOf(group, context)) : null;
  const page = { made, batch, first: entries[0]?.seq ?? seq + 1, last };
  if (page.last === end) group.pages.set(seq, page);
  return page;
}

/** Large signals make shorter pages: what a socket holds of one is bounded. */
function deliveriesOf(entries: Entry[], { subscription }: Group, seq: number): { deliveries: Delivery[]; last: number } {
  const deliveries: Delivery[] = [];
  let size = 0;
  for (const entry of entries) {
    const delivery = deliveryOf(entry, subscription.filter);
    if (delivery) deliveries.push(delivery);
    size += delivery?.version.json.length ?? 0;
    if (size > PAGE_CHARS) return { deliveries, last: entry.seq };
  }
  return { deliveries, last: entries.at(-1)?.seq ?? seq };
}

export function forgetPages(group: Group, now: number): void {
  for (const [seq, page] of group.pages) if (now - page.made >= PAGE_MS) group.pages.delete(seq);
}

/** Made once a moment for all live members. */
export function liveHeartbeat(group: Group, format: Format, context: GroupContext): Buffer {
  const at = context.now();
  const id = eventId(context.log.epoch(), context.log.position());
  if (group.heartbeat.at !== at || group.heartbeat.id !== id) group.heartbeat = { at, id, bytes: {} };
  return group.heartbeat.bytes[format] ??= heartbeatBytes(format, id, true, contextOf(group, context));
}
