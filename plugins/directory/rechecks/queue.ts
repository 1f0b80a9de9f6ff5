import { type Civic, type Rebuild, type Reader, type Tx } from 'civic';
import type { HalfLives } from '../actors/freshness.ts';
import { PROPERTIES } from '../types.ts';
import { groupBy } from '../ledger/group.ts';
import { dueBefore, impactOf } from './impact.ts';
import { citationsOf, dueBySource, queuedRow, replaceQueue, replaceRow, sourcesToCheck, sourceToCheck, type DueTimes, type RecheckRow, type SourceToCheck } from './store.ts';

export interface QueueContext {
  civic: Pick<Civic, 'clock'> & { readonly db: Civic['db'] };
  halfLives: HalfLives;
}

/** More than reviewers check in six hours. The fixed size keeps the cost of a page independent of the number of sources. */
export const MOST_QUEUED = 1000;
const SOURCES_AT_ONCE = 500;
/** Counting the statements of more records would take too long for a transaction. */
const MOST_COUNTED = 2000;

export function dueTimes(halfLives: HalfLives, now: number): DueTimes {
  return Object.fromEntries(PROPERTIES.map((property) => [property, dueBefore(halfLives[property], now)])) as DueTimes;
}

async function rowsOf(reader: Reader, sources: SourceToCheck[], { civic, halfLives }: QueueContext): Promise<RecheckRow[]> {
  if (sources.length === 0) return [];
  const now = civic.clock.now();
  const keys = sources.map(({ key }) => Number(key));
  const due = groupBy(await dueBySource(reader, keys, dueTimes(halfLives, now), civic.clock.iso()), ({ source_key }) => source_key);
  const cited = await citationsOf(reader, keys);
  return sources.flatMap(({ key, retrieved_at, last_checked_at }): RecheckRow[] => {
    const own = due.get(Number(key)) ?? [];
    const citations = cited.get(Number(key)) ?? 0;
    const impact = impactOf({ seen_at: last_checked_at ?? retrieved_at, cited: citations }, own, halfLives, now);
    if (impact === 0) return [];
    const statements = own.reduce((sum, row) => sum + row.statements, 0);
    const firstRecord = own.length === 0 ? null : Math.min(...own.map(({ from_record }) => from_record));
    return [{ source_key: Number(key), impact, cited: citations, due: statements, from_record: firstRecord }];
  });
}

const byImpact = (a: RecheckRow, b: RecheckRow): number => b.impact - a.impact || b.source_key - a.source_key;

/** Reads all public sources, a few at a time, and keeps those of the highest impact. */
export async function rebuildQueue(context: QueueContext, { write, progress, signal }: Pick<Rebuild, 'write'> & { progress?: Rebuild['progress']; signal?: AbortSignal }): Promise<void> {
  const reader = context.civic.db.read;
  let best: RecheckRow[] = [];
  for (let after = 0, sources: SourceToCheck[]; (sources = await sourcesToCheck(reader, after, SOURCES_AT_ONCE)).length > 0; after = Number(sources.at(-1)!.key)) {
    signal?.throwIfAborted();
    best = [...best, ...await rowsOf(reader, sources, context)].sort(byImpact).slice(0, MOST_QUEUED);
    await progress?.(0, 1);
  }
  await write((tx) => replaceQueue(tx, best));
}

/**
 * Updates the row of a source after statements of the records `checked` were checked. When more than `MOST_COUNTED` records cite the source, the
 * checked statements are only subtracted; the job computes the row later.
 */
export async function refreshSource(tx: Tx, sourceKey: number, checked: number[], context: QueueContext): Promise<void> {
  const queued = await queuedRow(tx, sourceKey);
  if (!queued) return;
  const source = await sourceToCheck(tx, sourceKey);
  if (source && queued.cited > MOST_COUNTED) {
    const due = queued.due - checked.length;
    await replaceRow(tx, sourceKey, due > 0 ? { ...queued, due, from_record: Math.max(queued.from_record ?? 0, ...checked) } : null);
    return;
  }
  const [row] = source ? await rowsOf(tx, [source], context) : [];
  await replaceRow(tx, sourceKey, row ?? null);
}
