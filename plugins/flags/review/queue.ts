import type { Rebuild, Tx } from 'civic';
import { rebuildSums, sumsOfTargets, SUMS_TABLE, type FlagSum } from '../sums-store.ts';
import { FLAG_TYPES, knownType, type FlagType, type Status, type Target, type TargetType } from '../types.ts';
import { clearQueue, countTargets, lockTarget, placesOfFlags, replaceQueueRows, targetsAfter, type QueueRow } from './queue-store.ts';
import { SEVERITIES, severityOf, typeBits } from './severity.ts';

/** The lists of the queue: by status, and open reports that may be spam apart from the others. */
export const STATES = ['open', 'suspected', 'accepted', 'resolved', 'dismissed'] as const;
export type State = (typeof STATES)[number];

/** Raise it when the same flags give other rows. */
export const QUEUE_VERSION = 3;
export const QUEUE_TABLES = [SUMS_TABLE, 'flags_queue', 'flags_queue_totals'];

const MOST_COUNTED = 100;
/** More than the milliseconds of any date, so that it separates the parts of a rank. */
const STEP = 1e13;
const REBUILT_AT_ONCE = 500;

export function stateOf(status: Status, suspicion: string | null): State {
  return status === 'open' && suspicion !== null ? 'suspected' : status;
}

/**
 * Returns the sort key of a target in the queue; the least comes first. Work to do is sorted by severity, then by the number of reports, then by the
 * oldest report. Decided reports are sorted by the latest report.
 */
export function rankOf(state: State, { severity, reports, first_at, latest_at }: Pick<QueueRow, 'severity' | 'reports' | 'first_at'> & { latest_at: string }): number {
  if (state === 'resolved' || state === 'dismissed') return STEP - Date.parse(latest_at);
  const parts = (SEVERITIES.length - 1 - severity) * MOST_COUNTED + (MOST_COUNTED - Math.min(reports, MOST_COUNTED));
  return parts * STEP + Date.parse(first_at);
}

/** Derives the rows of targets of one type from the sums of their flags, in the transaction of the change. */
export async function refreshQueue(tx: Tx, type: TargetType, ids: string[]): Promise<void> {
  const rows = groupsOf(type, await sumsOfTargets(tx, type, ids));
  const places = await placesOfFlags(tx, rows.map(({ lead_key }) => lead_key));
  await replaceQueueRows(tx, type, ids, rows.flatMap((row) => ['', ...places.get(row.lead_key) ?? []].map((place_key) => ({ place_key, ...row }))));
}

function groupsOf(target_type: TargetType, sums: FlagSum[]): Omit<QueueRow, 'place_key'>[] {
  const groups = new Map<string, { target_id: string; state: State; sums: FlagSum[] }>();
  for (const sum of sums) {
    const state = stateOf(sum.status, sum.suspicion || null);
    const key = `${state} ${sum.target_id}`;
    const group = groups.get(key) ?? groups.set(key, { target_id: sum.target_id, state, sums: [] }).get(key)!;
    group.sums.push(sum);
  }
  return [...groups.values()].map(({ target_id, state, sums: some }) => {
    const lead = some.reduce((best, sum) => (isMoreSevere(sum, best) ? sum : best));
    const group = {
      target_type, target_id, state, lead_key: lead.last_key, severity: severityOf(knownType(lead.flag_type)), types: typeBits(some.map(({ flag_type }) => knownType(flag_type))),
      reports: some.reduce((total, sum) => total + sum.flags, 0), first_at: some.map(({ first_at }) => first_at).sort()[0]!,
    };
    return { ...group, rank: rankOf(state, { ...group, latest_at: some.map(({ latest_at }) => latest_at).sort().at(-1)! }) };
  });
}

function isMoreSevere(a: FlagSum, b: FlagSum): boolean {
  const difference = severityOf(knownType(a.flag_type)) - severityOf(knownType(b.flag_type));
  return difference === 0 ? a.last_key > b.last_key : difference > 0;
}

/** Derives all rows again. */
export async function rebuildQueue({ write, progress }: Rebuild): Promise<void> {
  const total = await write(async (tx) => {
    await rebuildSums(tx);
    await clearQueue(tx);
    return countTargets(tx);
  });
  let done = 0;
  for (let after: Target | null = null; ;) {
    const from: Target | null = after;
    const targets = await write(async (tx) => {
      const some = await targetsAfter(tx, from, REBUILT_AT_ONCE);
      for (const target of some) await lockTarget(tx, target);
      for (const type of new Set(some.map((target) => target.type))) await refreshQueue(tx, type, some.filter((target) => target.type === type).map(({ id }) => id));
      return some;
    });
    if (targets.length === 0) return;
    done += targets.length;
    after = targets.at(-1)!;
    await progress(done, total);
  }
}

/** Returns the types of the targets that a filter allows, as bits; null for all. */
export function typesFilter(type: FlagType | null): number | null {
  return type === null ? null : 1 << FLAG_TYPES.indexOf(type);
}
