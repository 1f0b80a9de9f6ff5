import type { Refusal } from './refusal.ts';

export interface Places {
  /** Returns the function that gives the place back. Throws the refusal when none becomes free in time, and when it is aborted. */
  take(key: string, longestMs: number, refusal: () => Refusal, signal?: AbortSignal): Promise<() => void>;
}

/** So many places for each key, such as an origin, in this process. */
export function createPlaces(count: number): Places {
  const kept = new Map<string, { taken: number; waiting: (() => void)[] }>();

  function release(key: string): void {
    const places = kept.get(key)!;
    const next = places.waiting.shift();
    if (next) return next();
    places.taken--;
    if (places.taken === 0) kept.delete(key);
  }

  return {
    async take(key, longestMs, refusal, signal) {
      signal?.throwIfAborted();
      const places = kept.get(key) ?? { taken: 0, waiting: [] };
      kept.set(key, places);
      if (places.taken < count) places.taken++;
      else await turnOf(places.waiting, longestMs, refusal, signal);
      return () => release(key);
    },
  };
}

function turnOf(waiting: (() => void)[], longestMs: number, refusal: () => Refusal, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const giveUp = (error: unknown) => {
      end();
      waiting.splice(waiting.indexOf(onTurn), 1);
      reject(error);
    };
    const onTurn = () => {
      end();
      resolve();
    };
    const onAbort = () => giveUp(signal!.reason);
    const timer = longestMs === Infinity ? undefined : setTimeout(() => giveUp(refusal()), longestMs);
    signal?.addEventListener('abort', onAbort);
    waiting.push(onTurn);
  });
}
