/** Work that is done one run at a time; a wake while it runs makes it run once more. */
export interface Waker {
  wake(): void;
  /** When the work under way is done. */
  idle(): Promise<void>;
}

export function createWaker(work: () => Promise<void>, onError: (error: unknown) => void): Waker {
  const attempt = tellingOnce(work, onError);
  let running: Promise<void> | null = null;
  let isWoken = false;

  async function run(): Promise<void> {
    while (isWoken) {
      isWoken = false;
      await attempt();
    }
    running = null;
  }

  return {
    wake() {
      isWoken = true;
      running ??= run();
    },
    idle: async () => { await running; },
  };
}

export interface Repeating {
  /** When the run under way is done. */
  stop(): Promise<void>;
}

/** Runs `work` again and again, each time so long after the last run ended. Does not keep the process alive. */
export function repeat(milliseconds: number, work: () => Promise<void>, onError: (error: unknown) => void): Repeating {
  const attempt = tellingOnce(work, onError);
  let isStopped = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout;

  function schedule(): void {
    timer = setTimeout(() => {
      running = attempt().then(() => {
        if (!isStopped) schedule();
      });
    }, milliseconds).unref();
  }

  schedule();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Failures in a row are told once: a database that is away for a minute should not fill the log. */
function tellingOnce(work: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let isFailing = false;
  return async () => {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    }
  };
}
