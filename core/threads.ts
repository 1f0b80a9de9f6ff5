import { setTimeout as sleep } from 'node:timers/promises';
import { createThread, type Thread } from './threads/thread.ts';
import { ThreadError } from './threads/error.ts';

export { ThreadError };
export type { ThreadErrorCode } from './threads/error.ts';

export interface ThreadLimits {
  /** How many threads run at most; further calls wait. */
  count: number;
  /** The longest time of a call, without the time that it waits and that a thread takes to start. */
  seconds: number;
  /** The largest JavaScript heap of a thread. A call also ends when the process grows by twice as much, which includes the bytes of typed arrays. */
  memory_mb: number;
  /** How long a thread without calls stays; 5 s by default. */
  idle_ms?: number;
}

export interface Threads {
  /**
   * Calls a function that the module exports, and returns its result. Arguments and results are copied like messages of worker threads.
   * Rejects with a `ThreadError`.
   */
  run<T>(name: string, ...given: unknown[]): Promise<T>;
  /** Ends all threads, and rejects calls that run or wait. */
  close(): Promise<void>;
}

interface Call {
  name: string;
  given: unknown[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const IDLE_MS = 5000;

/**
 * Runs functions of a module in worker threads, for work that can take too long, such as parsing a document of a stranger. A call above a limit ends its
 * thread. Threads start with the first call and end without calls; they do not keep the process running.
 *
 * Bound the input of calls: when one allocation is larger than what is left of the heap of a thread, V8 ends the whole process. Bound also what they unpack:
 * glibc does not return the memory of many buffers below 128 KB to the system, even when the thread ends.
 */
export function createThreads(module: URL, limits: ThreadLimits): Threads {
  const threads = new Set<Thread>();
  const idle: Thread[] = [];
  const waiting: Call[] = [];
  let isClosed = false;

  function next(): void {
    while (waiting.length > 0 && (idle.length > 0 || threads.size < limits.count)) void serve(idle.pop() ?? started(), waiting.shift()!);
  }

  function started(): Thread {
    const thread = createThread(module, limits);
    threads.add(thread);
    void thread.ended.then(() => {
      threads.delete(thread);
      withdraw(thread);
      next();
    });
    return thread;
  }

  /** Gives a thread no further calls. */
  function withdraw(thread: Thread): void {
    if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
  }

  async function serve(thread: Thread, { name, given, resolve, reject }: Call): Promise<void> {
    try {
      resolve(await thread.call(name, given));
    } catch (error) {
      reject(error);
    }
    if (thread.isLost) return;
    idle.push(thread);
    void endWhenIdle(thread, thread.calls);
    next();
  }

  async function endWhenIdle(thread: Thread, calls: number): Promise<void> {
    await sleep(limits.idle_ms ?? IDLE_MS, undefined, { ref: false });
    if (thread.calls !== calls) return;
    withdraw(thread);
    await thread.end();
  }

  return {
    run<T>(name: string, ...given: unknown[]): Promise<T> {
      if (isClosed) return Promise.reject(closedError());
      return new Promise<T>((resolve, reject) => {
        waiting.push({ name, given, resolve: resolve as (value: unknown) => void, reject });
        next();
      });
    },
    async close() {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(closedError());
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

function closedError(): ThreadError {
  return new ThreadError('failed', 'The threads are closed.');
}
