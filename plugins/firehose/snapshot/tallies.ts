import { matches } from '../query/filter.ts';
import type { Entry, Log } from '../log/log.ts';
import { createMatcher, type Place } from '../query/matcher.ts';
import type { Subscription } from '../query/subscription.ts';
import type { Tally } from './store.ts';

/** The tallies of queries that are asked again and again, kept true by the log instead of counted anew. */
export interface Tallies {
  /** True for what this node has read of the log; null when it is not kept. */
  get(subscription: Subscription): Tally | null;
  /** Keeps a tally that was counted when the log was at `head`, if this node is there. */
  put(subscription: Subscription, tally: Tally, head: number): void;
}

interface Kept {
  key: string;
  tally: Tally;
  place: Place<Kept>;
}

const MOST = 1000;

export function createTallies(log: Log): Tallies {
  const kept = new Map<string, Kept>();
  const matcher = createMatcher<Kept>();

  function drop(one: Kept): void {
    if (kept.get(one.key) !== one) return;
    kept.delete(one.key);
    matcher.remove(one.place);
  }

  log.onEntries((entries) => {
    for (const entry of entries) {
      const outdated: Kept[] = [];
      matcher.match(entry, (one, { isRetracted }) => {
        if (isRetracted || !follow(one.tally, entry, one.place)) outdated.push(one);
      });
      outdated.forEach(drop);
    }
  });
  log.onPruned(() => { for (const one of kept.values()) drop(one); });

  return {
    get({ key }) {
      const one = kept.get(key);
      if (!one) return null;
      // The order of a map is the order of use.
      kept.delete(key);
      kept.set(key, one);
      return { ...one.tally };
    },
    put({ key, filter }, tally, head) {
      if (kept.has(key) || head !== log.position()) return;
      if (kept.size >= MOST) drop(kept.values().next().value!);
      const one = { key, tally: { ...tally } } as Kept;
      one.place = matcher.add(filter, one);
      kept.set(key, one);
    },
  };
}

/** Counts a line that is for the query. False when that cannot be told without looking at all the others. */
function follow(tally: Tally, { seq, now, before }: Entry, { filter }: Place<Kept>): boolean {
  const replaces = before !== null && matches(before.fields, filter);
  if (replaces && before.fields.detected === tally.latest && now!.fields.detected < tally.latest) return false;
  tally.total += replaces ? 0 : 1;
  tally.last_seq = seq;
  tally.latest = Math.max(tally.latest ?? -Infinity, now!.fields.detected);
  return true;
}
