import { latestEnd } from 'civic';

/** One limit: so many in so many seconds. The window begins with the first request it counts. */
export interface Window {
  /** Which of the three counters of a subject it is. */
  slot: 0 | 1 | 2;
  limit: number;
  seconds: number;
  what: 'reads' | 'writes' | 'requests';
}

/** The counters of one subject: an address in an area, or an account. */
export interface Counters {
  subject: string;
  counts: [number, number, number];
  /** When each window ends, in Unix milliseconds; one that is over counts for nothing. */
  ends: [number, number, number];
}

/** What came of a request, told by the window with the fewest left; of two, by the one that ends later. */
export interface Standing {
  isAdmitted: boolean;
  window: Window;
  remaining: number;
  ends: number;
}

export function noCounters(subject: string): Counters {
  return { subject, counts: [0, 0, 0], ends: [0, 0, 0] };
}

/** A window that ends later than one that begins now was counted while the clock was ahead, and is over, too. */
export function isOver({ ends }: Counters, { slot, seconds }: Window, now: number): boolean {
  return ends[slot] <= now || ends[slot] > latestEnd(now, seconds * 1000);
}

export function leftIn(counters: Counters, window: Window, now: number): number {
  return isOver(counters, window, now) ? window.limit : Math.max(0, window.limit - counters.counts[window.slot]);
}

export function isRoom(counters: Counters, windows: readonly Window[], now: number): boolean {
  for (const window of windows) if (leftIn(counters, window, now) === 0) return false;
  return true;
}

/** Looks at all windows first, then takes one from each, or nothing from any. */
export function take(counters: Counters, windows: readonly Window[], now: number): Standing {
  if (!isRoom(counters, windows, now)) return standing(counters, windows, now, false);
  for (const window of windows) {
    const { slot, seconds } = window;
    if (isOver(counters, window, now)) {
      counters.counts[slot] = 1;
      counters.ends[slot] = now + seconds * 1000;
    } else {
      counters.counts[slot] += 1;
    }
  }
  return standing(counters, windows, now, true);
}

export function standing(counters: Counters, windows: readonly Window[], now: number, isAdmitted: boolean): Standing {
  let tightest: Standing | null = null;
  for (const window of windows) {
    const remaining = leftIn(counters, window, now);
    const ends = isOver(counters, window, now) ? now + window.seconds * 1000 : counters.ends[window.slot];
    if (!tightest || remaining < tightest.remaining || (remaining === tightest.remaining && ends > tightest.ends)) tightest = { isAdmitted, window, remaining, ends };
  }
  return tightest!;
}
