import type { Memory } from './memory.ts';
import type { Ask, Granted } from './store.ts';
import { isRoom, standing, type Standing, type Window } from './windows.ts';

export interface SharedOptions {
  memory: Memory;
  now(): number;
  /** Asks the store that all nodes share, for subjects of which no two are alike. */
  take(asks: Ask[], now: number): Promise<Granted[]>;
  patienceMs: number;
  /** The store did not answer in time, or not at all. */
  onLocal(): void;
}

export interface Shared {
  take(subject: string, windows: readonly Window[], now: number): Standing | Promise<Standing>;
}

interface Waiting extends Ask {
  waiters: ((standing: Standing) => void)[];
  timer: NodeJS.Timeout;
  isOver: boolean;
}

/**
 * Counters that several nodes share. A node has one statement under way at a time; requests that come meanwhile wait for the
 * next and share it, however many they are. What was answered is kept in memory: a window that is used up stays so until it
 * ends, which takes no further question, and when the store is silent the memory decides.
 */
export function createShared({ memory, now, take, patienceMs, onLocal }: SharedOptions): Shared {
  const queue = new Map<string, Waiting>();
  let isSending = false;
  let isLate = false;

  function decideHere({ subject, windows }: Ask): Standing {
    onLocal();
    return memory.take(subject, windows, now());
  }

  function giveUp(waiting: Waiting): void {
    if (waiting.isOver) return;
    clearTimeout(waiting.timer);
    waiting.isOver = true;
    if (!queue.delete(keyOf(waiting.subject, waiting.windows))) isLate = isSending;
    for (const answer of waiting.waiters) answer(decideHere(waiting));
  }

  function settle(waiting: Waiting, { counters, granted }: Granted, at: number): void {
    memory.put(counters);
    if (waiting.isOver) return;
    waiting.isOver = true;
    clearTimeout(waiting.timer);
    const last = standing(counters, waiting.windows, at, true);
    // Those that came first had more left: each saw the counter as it was after its own turn.
    waiting.waiters.forEach((answer, index) => {
      answer(index < granted ? { ...last, remaining: last.remaining + granted - 1 - index } : { ...last, isAdmitted: false });
    });
  }

  async function send(): Promise<void> {
    isSending = true;
    while (queue.size > 0) {
      const batch = nextBatch(queue);
      for (const waiting of batch) waiting.wanted = waiting.waiters.length;
      const at = now();
      try {
        const answers = new Map((await take(batch, at)).map((granted) => [granted.counters.subject, granted]));
        for (const waiting of batch) settle(waiting, answers.get(waiting.subject)!, at);
      } catch {
        // Whoever asks next tries again; the database has its own checks and its own words in the log.
        batch.forEach(giveUp);
      }
      isLate = false;
    }
    isSending = false;
  }

  function wait(subject: string, windows: readonly Window[]): Promise<Standing> {
    const key = keyOf(subject, windows);
    let waiting = queue.get(key);
    if (!waiting) {
      const made: Waiting = {
        subject, windows, wanted: 0, waiters: [], isOver: false,
        // An answer that came while this process was busy is read before anybody gives up on it.
        timer: setTimeout(() => setImmediate(giveUp, made), patienceMs),
      };
      queue.set(key, waiting = made);
    }
    const { waiters } = waiting;
    const answered = new Promise<Standing>((resolve) => { waiters.push(resolve); });
    if (!isSending) void send();
    return answered;
  }

  return {
    take(subject, windows, at) {
      const known = memory.find(subject);
      if (known && !isRoom(known, windows, at)) return standing(known, windows, at, false);
      return isLate ? decideHere({ subject, windows, wanted: 1 }) : wait(subject, windows);
    },
  };
}

function keyOf(subject: string, windows: readonly Window[]): string {
  return `${windows[0]!.slot} ${subject}`;
}

/** Takes out of the queue what one statement can ask: a subject once. */
function nextBatch(queue: Map<string, Waiting>): Waiting[] {
  const batch = new Map<string, Waiting>();
  for (const [key, waiting] of queue) {
    if (batch.has(waiting.subject)) continue;
    batch.set(waiting.subject, waiting);
    queue.delete(key);
  }
  return [...batch.values()];
}
