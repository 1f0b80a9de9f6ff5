import { createHash } from 'node:crypto';
import type { Query, Signal } from '../../../plugins/firehose/types.ts';
import type { Asker } from './askers.ts';

/** A version of a signal as the log holds it. Whose workspace it is for is known from who wrote it. */
export interface Version {
  signal: Signal;
  workspaceId: string | null;
  /** Of the whole signal, so that frames can be compared without being kept. */
  hash: string;
}

/** A line of the log: what it says now, and what the line before it said of the same signal. */
export interface Line {
  seq: number;
  signalId: string;
  now: Version | null;
  before: Version | null;
}

/** What a subscriber gets of a line. */
export interface Delivery {
  seq: number;
  retracted: boolean;
  id: string;
  hash: string;
}

export function hashOf(signal: unknown): string {
  return createHash('sha1').update(JSON.stringify(signal)).digest('base64').slice(0, 12);
}

/** Who may see a version, worked out from the words of the specification and from nothing of the plugin. */
function maySee({ signal, workspaceId }: Version, asker: Asker, visibility: string): boolean {
  const isOut = signal.review_state === 'not_required' || signal.review_state === 'approved';
  if (signal.visibility === 'workspace') {
    return visibility !== 'public' && asker.workspaceId !== null && workspaceId === asker.workspaceId && (isOut || asker.reviewsThere);
  }
  if (!isOut) return visibility === 'reviewer';
  if (signal.visibility === 'public') return true;
  return visibility === 'reviewer' || (visibility === 'partner' && signal.visibility === 'partner');
}

const meets = (wanted: readonly string[], found: readonly string[]): boolean => wanted.length === 0 || wanted.some((value) => found.includes(value));

/** The filter by brute force. */
export function matches(version: Version, query: Query, asker: Asker): boolean {
  const { signal } = version;
  return maySee(version, asker, query.visibility)
    && meets(query.places, signal.places) && meets(query.issues, signal.issues)
    && meets(query.actor_types, signal.actors.map(({ type }) => type))
    && meets(query.signal_types, [signal.type]) && meets(query.source_classes, [signal.source_class])
    && isWithinBounds(timeOf(signal, query.sort), query);
}

/** Returns whether a time is within the bounds of a query. A signal without that time is outside every bound. */
function isWithinBounds(time: number | null, { since, until }: Query): boolean {
  if (time === null) return since === null && until === null;
  return (since === null || time >= Date.parse(since)) && (until === null || time < Date.parse(until));
}

function timeOf(signal: Signal, sort: Query['sort']): number | null {
  const time = sort === 'occurred_at_desc' ? signal.occurred_at : signal.detected_at;
  return time === null ? null : Date.parse(time);
}

export function deliveryOf({ seq, signalId, now, before }: Line, query: Query, asker: Asker): Delivery | null {
  if (now && matches(now, query, asker)) return { seq, retracted: false, id: signalId, hash: now.hash };
  if (before && matches(before, query, asker)) return { seq, retracted: true, id: signalId, hash: before.hash };
  return null;
}

export interface LogRow {
  seq: number;
  signal_id: string;
  signal: string | null;
}

/** The log as the database holds it, each line with what it replaces. */
export function linesOf(rows: LogRow[], workspaceOf: (title: string) => string | null): Line[] {
  const present = new Map<string, Version | null>();
  return rows.map(({ seq, signal_id: signalId, signal: text }) => {
    const signal = text === null ? null : JSON.parse(text) as Signal;
    const now = signal && { signal, workspaceId: workspaceOf(signal.title), hash: hashOf(signal) };
    const line = { seq, signalId, now, before: present.get(signalId) ?? null };
    present.set(signalId, now);
    return line;
  });
}

/** Returns the value that a snapshot sorts by; signals without one are last. */
export function sortKey({ signal }: Version, sort: Query['sort']): number {
  return sort === 'relevance_desc' ? signal.relevance : timeOf(signal, sort) ?? -Infinity;
}
