import type { Reader } from 'civic';

/** The public sources of a place that are read again and again. */
export interface WatchedSources {
  total: number;
  healthy: number;
  failing: number;
  last_success_at: string | null;
}

/** Returns the watched sources of a place. */
export type CountWatched = (reader: Reader, placeKey: string) => Promise<WatchedSources>;

/** A slot of the coverage of places, which another plugin fills. */
export interface WatchedSlot {
  fill(count: CountWatched): void;
  isFilled(): boolean;
  count: CountWatched;
}

export function createWatchedSlot(): WatchedSlot {
  let filled: CountWatched | null = null;
  return {
    fill(count) {
      if (filled) throw new Error('The watched sources of coverage are filled twice');
      filled = count;
    },
    isFilled: () => filled !== null,
    count: async (reader, placeKey) => (filled ? filled(reader, placeKey) : { total: 0, healthy: 0, failing: 0, last_success_at: null }),
  };
}
