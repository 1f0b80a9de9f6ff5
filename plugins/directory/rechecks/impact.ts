import { dayOf, type HalfLives } from '../actors/freshness.ts';
import { SOURCE_HALF_LIFE_DAYS } from '../actors/wire.ts';
import type { Property } from '../types.ts';

/** How much it matters that a statement is current: a dead phone number does harm, an old description little. */
export const WEIGHTS: Record<Property, number> = {
  phone: 5, email: 5, event_start: 5, event_end: 3, event_location: 4, affiliation: 4, status: 4, website: 3, social: 3, place: 2, issue_area: 2, description: 2, name: 1, type: 1, identifier: 1,
};

/** Staleness grows with age up to this many half-lives. */
const MOST_STALE = 4;

/** The oldest statement of a property that a source has. */
export interface DueStatement {
  property: Property;
  last_seen_at: string;
}

/** A source, with when it was last checked. */
export interface CheckedSource {
  seen_at: string;
  /** How many records cite it. */
  cited: number;
}

/** Returns how many half-lives ago something was seen, at most `MOST_STALE`. */
const staleness = (seenAt: string, halfLife: number, now: number): number => Math.min(MOST_STALE, (dayOf(now) - dayOf(seenAt)) / halfLife);

/** Returns the last time that a statement of a property may have been seen and is not past its half-life. */
export function dueBefore(halfLife: number, now: number): string {
  return new Date((dayOf(now) - halfLife) * 86_400_000).toISOString();
}

/**
 * Returns 100 × log2(1 + cited) × the largest (weight × staleness) of the statements that are past their half-life; a source that was not
 * checked for its half-life counts as a statement of weight 1. 0 means that there is nothing to check.
 */
export function impactOf({ seen_at, cited }: CheckedSource, due: DueStatement[], halfLives: HalfLives, now: number): number {
  const isUnchecked = seen_at < dueBefore(SOURCE_HALF_LIFE_DAYS, now);
  const worst = Math.max(0, ...due.map(({ property, last_seen_at }) => WEIGHTS[property] * staleness(last_seen_at, halfLives[property], now)), isUnchecked ? staleness(seen_at, SOURCE_HALF_LIFE_DAYS, now) : 0);
  return Math.round(100 * Math.log2(1 + cited) * worst);
}
