export interface Throttle {
  /** Whether this is among the first so many in its span of time. */
  admits(who: string): boolean;
}

const MOST = 50_000;

/** Bounds attempts on this node: for guesses and mails, besides the rate limits of requests. A span that was begun while the clock was ahead is over. */
export function createThrottle(most: number, seconds: number, now: () => number): Throttle {
  const tries = new Map<string, { count: number; until: number }>();
  return {
    admits(who) {
      const at = now();
      let known = tries.get(who);
      if (!known || known.until <= at || known.until > at + seconds * 1000) {
        tries.delete(who);
        if (tries.size >= MOST) tries.delete(tries.keys().next().value!);
        known = { count: 0, until: at + seconds * 1000 };
        tries.set(who, known);
      }
      known.count++;
      return known.count <= most;
    },
  };
}
