import { noCounters, take, type Counters, type Standing, type Window } from './windows.ts';

/** Counters of this process. */
export interface Memory {
  take(subject: string, windows: readonly Window[], now: number): Standing;
  find(subject: string): Counters | undefined;
  /** Takes over what was read from the database. */
  put(counters: Counters): void;
  /** Forgets subjects whose windows are all over. */
  purge(now: number): void;
  readonly size: number;
}

/** Keeps at most so many subjects: when all are in use, those that came first are forgotten, and begin anew. */
export function createMemory(most: number, onTaken: (counters: Counters) => void = () => undefined): Memory {
  const subjects = new Map<string, Counters>();

  function put(counters: Counters): void {
    if (subjects.size >= most && !subjects.has(counters.subject)) subjects.delete(subjects.keys().next().value!);
    subjects.set(counters.subject, counters);
  }

  return {
    take(subject, windows, now) {
      let counters = subjects.get(subject);
      if (!counters) {
        counters = noCounters(subject);
        put(counters);
      }
      const standing = take(counters, windows, now);
      if (standing.isAdmitted) onTaken(counters);
      return standing;
    },
    find: (subject) => subjects.get(subject),
    put,
    purge(now) {
      for (const [subject, { ends }] of subjects) if (Math.max(...ends) <= now) subjects.delete(subject);
    },
    get size() { return subjects.size; },
  };
}
