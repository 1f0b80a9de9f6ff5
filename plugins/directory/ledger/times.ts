import { EXTERNAL_SKEW_MS } from 'civic';
import type { ActorDraft } from '../types.ts';
import type { DraftFault } from './service.ts';

/** A page may carry the date of a time zone where it is tomorrow already. */
const DAY_MS = 86_400_000;

/** Reports times of a draft that are in the future. Ends of claims and times of events are exempt. */
export function futureTimes(draft: ActorDraft, now: number): DraftFault[] {
  const latest = new Date(now + EXTERNAL_SKEW_MS).toISOString();
  const latestDay = new Date(now + DAY_MS).toISOString();
  const faults: DraftFault[] = [];
  const check = (pointer: string, time: string | null | undefined, most: string) => {
    if (time && time > most) faults.push({ pointer, detail: `${time} is in the future` });
  };
  check('/created_at', draft.created_at, latest);
  check('/updated_at', draft.updated_at, latest);
  draft.sources.forEach(({ retrieved_at, published_at }, index) => {
    check(`/sources/${index}/retrieved_at`, retrieved_at, latest);
    check(`/sources/${index}/published_at`, published_at, latestDay);
  });
  draft.claims.forEach(({ first_seen_at, last_seen_at }, index) => {
    check(`/claims/${index}/first_seen_at`, first_seen_at, latest);
    check(`/claims/${index}/last_seen_at`, last_seen_at, latest);
  });
  return faults;
}

/** Returns whether a time is in the future, with a tolerance for other clocks. */
export function isFuture(time: string, now: string): boolean {
  return Date.parse(time) > Date.parse(now) + EXTERNAL_SKEW_MS;
}

/** A time that was stored by a clock ahead of ours counts as now. */
export function notAfter(time: string, now: string): string {
  return time > now ? now : time;
}
