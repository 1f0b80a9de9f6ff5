import type { Caller, Reader } from 'civic';
import { completeQuery } from '../query/schemas.ts';
import type { Subscribe } from '../query/subscription.ts';
import { withoutUpkeep } from '../query/upkeep.ts';
import type { SignalKinds } from '../signals/kinds.ts';
import type { CurrentSignal, Signal, SignalQuery } from '../types.ts';
import { readSnapshot, type SnapshotContext } from './snapshot.ts';
import { publicSignalsAbout, visibleSignals } from './store.ts';

/** Returns the first signals that a query finds, for other plugins. */
export async function readSignals(context: SnapshotContext & { subscribe: Subscribe; kinds: SignalKinds }, { hasUpkeep = true, ...given }: SignalQuery, caller: Caller | null): Promise<{ signals: Signal[]; total: number }> {
  const query = completeQuery(given);
  const all = await context.subscribe(context.db().read, query, caller);
  const subscription = hasUpkeep ? all : withoutUpkeep(all, context.kinds);
  const { rows, tally } = await readSnapshot(context, subscription, { limit: query.limit, after: null });
  return { signals: rows.map(({ signal }) => JSON.parse(signal) as Signal), total: tally.total };
}

export async function readSignalsAbout(reader: Reader, actorIds: string[], limit: number): Promise<Signal[]> {
  const signals = await publicSignalsAbout(reader, actorIds, limit);
  return signals.map((signal) => JSON.parse(signal) as Signal);
}

export async function readSignalsById(reader: Reader, ids: string[], workspaceId: string): Promise<Map<string, CurrentSignal>> {
  const rows = ids.length > 0 ? await visibleSignals(reader, ids, ['public', `workspace:${workspaceId}`]) : [];
  return new Map(rows.map(({ signal_id: id, seq, signal }) => [id, { seq: Number(seq), signal: JSON.parse(signal) as Signal }]));
}
