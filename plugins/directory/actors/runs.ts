import type { Reader } from 'civic';

/** The latest public run that searched for actors of a place. */
export interface LatestRun {
  status: string;
  /** Null while it runs. */
  completed_at: string | null;
}

/** Returns the latest public run about a place; null when there is none. */
export type FindLatestRun = (reader: Reader, placeKey: string) => Promise<LatestRun | null>;

/** A slot of the coverage of places, which another plugin fills. */
export interface RunSlot {
  fill(find: FindLatestRun): void;
  isFilled(): boolean;
  latest: FindLatestRun;
}

export function createRunSlot(): RunSlot {
  let filled: FindLatestRun | null = null;
  return {
    fill(find) {
      if (filled) throw new Error('The latest run of coverage is filled twice');
      filled = find;
    },
    isFilled: () => filled !== null,
    latest: async (reader, placeKey) => (filled ? filled(reader, placeKey) : null),
  };
}
