// A crash forgets less than a second, the time of the write itself included.
const EVERY_MS = 900;

/** Writes down what changed a moment later: at once after a rest, and then at most once in `EVERY_MS`. */
export interface Behind {
  /** There is something to write. */
  touch(): void;
  /** Writes what there is now. */
  flush(): Promise<void>;
  /** Writes the rest, and no more. */
  stop(): Promise<void>;
}

export function createBehind(write: () => Promise<void>): Behind {
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let last = -Infinity;
  let isDirty = false;
  let isStopped = false;

  async function run(): Promise<void> {
    timer = null;
    isDirty = false;
    last = performance.now();
    writing = write();
    await writing;
    writing = null;
    if (isDirty) schedule();
  }

  async function flush(): Promise<void> {
    await writing;
    if (timer) clearTimeout(timer);
    if (isDirty) await run();
  }

  function schedule(): void {
    if (timer || writing || isStopped) return;
    timer = setTimeout(() => { void run(); }, Math.max(0, last + EVERY_MS - performance.now()));
    timer.unref();
  }

  return {
    touch() {
      if (isDirty) return;
      isDirty = true;
      schedule();
    },
    flush,
    async stop() {
      isStopped = true;
      await flush();
    },
  };
}
