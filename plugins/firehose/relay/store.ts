import { latestEnd, type Reader, type Tx } from 'civic';
import type { Signal } from '../types.ts';

/** How far another instance's log was read, and what came in the way. Times are milliseconds. */
export interface RelayRow {
  url: string;
  event_id: string;
  behind: number;
  heard: number | null;
  fault: string | null;
  fix: string | null;
  holder: string | null;
  lease_until: number | null;
}

const RELAY = 'firehose_relay';

export async function relayRow(reader: Reader, url: string): Promise<RelayRow | null> {
  return (await reader(RELAY).where({ url }).first()) ?? null;
}

export async function beginRelay(tx: Tx, url: string, eventId: string): Promise<void> {
  await tx(RELAY).insert({ url, event_id: eventId, behind: 0 }).onConflict('url').ignore();
}

/** Makes this node the one that follows, if nobody does, or whoever did has been silent for too long. */
export async function takeLease(tx: Tx, url: string, lease: { holder: string; now: number; until: number; isForced: boolean }): Promise<boolean> {
  const query = tx(RELAY).where({ url });
  if (!lease.isForced) query.where((free) => free.whereNull('holder').orWhere('holder', lease.holder).orWhere('lease_until', '<', lease.now).orWhere('lease_until', '>', latestEnd(lease.until, 0)));
  return await query.update({ holder: lease.holder, lease_until: lease.until }) === 1;
}

/** Keeps what changed, and the lease with it. False when another node has taken over. */
export async function keepRelay(tx: Tx, url: string, holder: string, kept: Partial<RelayRow>): Promise<boolean> {
  return await tx(RELAY).where({ url, holder }).update(kept) === 1;
}

export async function dropLease(tx: Tx, url: string, holder: string): Promise<void> {
  await tx(RELAY).where({ url, holder }).update({ holder: null, lease_until: null });
}

/** The present versions of signals, by id; of one that is written on Postgres and not numbered yet, that one. */
export async function presentSignals(reader: Reader, ids: string[]): Promise<Map<string, Signal>> {
  // First these: meanwhile they may move to where the others are, never back.
  const written: { signal: string | null }[] = await reader('firehose_outbox').whereIn('signal_id', ids).orderBy('key').select('signal');
  const rows: { signal: string | null }[] = await present(reader).whereIn('signals.signal_id', ids);
  return new Map([...rows, ...written].flatMap(({ signal }) => (signal === null ? [] : [JSON.parse(signal) as Signal])).map((signal) => [signal.id, signal]));
}

/** Returns those ids under which this instance published a signal of its own, also one that it has retracted since. */
export async function firstPublishedHere(reader: Reader, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows: { signal_id: string; signal: string }[] = await reader('firehose_log').whereIn('signal_id', ids).whereNotNull('signal').select('signal_id', 'signal');
  return new Set(rows.filter(({ signal }) => (JSON.parse(signal) as Signal).origin === null).map(({ signal_id }) => signal_id));
}

/** Returns a page of signals in the order in which they were first published. */
export async function signalsAfter(reader: Reader, born: number, limit: number): Promise<{ born: number; signal: Signal }[]> {
  const rows: { born: number; signal: string }[] = await present(reader).where('signals.born', '>', born).orderBy('signals.born').limit(limit);
  return rows.map((row) => ({ born: row.born, signal: JSON.parse(row.signal) as Signal }));
}

function present(reader: Reader) {
  return reader('firehose_signals as signals').join('firehose_log as log', 'log.seq', 'signals.seq').select('signals.born', 'log.signal');
}
