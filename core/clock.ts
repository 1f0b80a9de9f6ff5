/** The clock of the kit. Tests stop and move it, so no other code reads the time of the system. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** The same moment as RFC 3339 in UTC with milliseconds and `Z`. */
  iso(): string;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  iso: () => new Date().toISOString(),
};

/** How far the clocks of the nodes of one instance may be apart. */
const NODE_SKEW_MS = 60_000;
/** How far the clock of a client or of another instance may be ahead. */
export const EXTERNAL_SKEW_MS = 5 * 60_000;

/**
 * Returns the latest time at which a wait of this many milliseconds can end if it has begun. A later stored end was written
 * while a clock was ahead and counts as passed; otherwise the wait would last for as long as that clock was wrong.
 */
export function latestEnd(now: number, milliseconds: number): number {
  return now + milliseconds + NODE_SKEW_MS;
}

/** A clock that only `set` and `advance` move. */
export interface StoppedClock extends Clock {
  set(time: number | string): void;
  advance(milliseconds: number): void;
}

export function stoppedClock(start: number | string = '2026-01-01T00:00:00.000Z'): StoppedClock {
  let time = new Date(start).getTime();
  return {
    now: () => time,
    iso: () => new Date(time).toISOString(),
    set: (to) => { time = new Date(to).getTime(); },
    advance: (milliseconds) => { time += milliseconds; },
  };
}
