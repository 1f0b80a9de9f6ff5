import { notAfter } from '../ledger/times.ts';
import type { FreshnessStatus, Property } from '../types.ts';

/** Days after which a claim that was not seen again counts for half: a phone number changes sooner than a name. */
export type HalfLives = Record<Property, number>;

const DAY_MS = 86_400_000;

export function dayOf(time: string | number): number {
  return Math.floor((typeof time === 'number' ? time : Date.parse(time)) / DAY_MS);
}

/** What hardly ever changes says nothing of how fresh the rest is. */
const LASTING: ReadonlySet<Property> = new Set(['name', 'type', 'identifier']);

export interface FreshnessDays {
  /** All that is shown was seen within its half-life up to this day. */
  fresh_until: number | null;
  /** Something of it was seen within twice its half-life up to this day. */
  aging_until: number | null;
}

/** Computes the days from the claims an actor is shown by. A claim that a clock ahead of ours stored counts as seen now. */
export function freshnessDays(claims: { property: Property; last_seen_at: string }[], halfLives: HalfLives, now: string): FreshnessDays {
  if (claims.length === 0) return { fresh_until: null, aging_until: null };
  const passing = claims.filter(({ property }) => !LASTING.has(property));
  const days = (passing.length > 0 ? passing : claims).map(({ property, last_seen_at }) => ({ seen: dayOf(notAfter(last_seen_at, now)), half: halfLives[property] }));
  return {
    fresh_until: Math.min(...days.map(({ seen, half }) => seen + half)),
    aging_until: Math.max(...days.map(({ seen, half }) => seen + 2 * half)),
  };
}

/** Judged by the UTC day, so that an answer holds until midnight. */
export function freshnessOn(day: number, { fresh_until, aging_until }: FreshnessDays): FreshnessStatus {
  if (fresh_until === null || aging_until === null) return 'unknown';
  if (day <= fresh_until) return 'fresh';
  return day <= aging_until ? 'aging' : 'stale';
}
