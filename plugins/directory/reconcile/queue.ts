import { setImmediate } from 'node:timers/promises';

/** The request ends here: its client is gone, or there is too much to do. */
export class Ended extends Error {
  readonly status: 429 | 499 | 503;

  constructor(status: 429 | 499 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

/** Called between two steps of a long request. Throws when the client is gone; lets other requests run when this one had its share. */
export type Pause = () => Promise<void>;

export interface Queue {
  /** Runs the work when it is its turn. */
  run<Result>(address: string, isActive: () => boolean, work: (pause: Pause) => Promise<Result>): Promise<Result>;
}

interface Waiting {
  address: string;
  isActive: () => boolean;
  start: () => void;
  end: (reason: Ended) => void;
}

const RUNNING = 2;
const WAITING = 32;
const WAITING_EACH = 4;
/** How long one request may keep the event loop, in milliseconds. */
const SHARE = 10;

/** Two batches run at a time, one for each client address; a few wait. The rest of the server keeps its database connections. */
export function createQueue(): Queue {
  const running = new Set<string>();
  let waiting: Waiting[] = [];

  function startNext(): void {
    while (running.size < RUNNING) {
      const next = waiting.find(({ address }) => !running.has(address));
      if (!next) return;
      waiting = waiting.filter((one) => one !== next);
      running.add(next.address);
      next.start();
    }
  }

  function endAbandoned(): void {
    for (const one of waiting) if (!one.isActive()) one.end(disconnected());
    waiting = waiting.filter(({ isActive }) => isActive());
  }

  function turn(address: string, isActive: () => boolean): Promise<void> {
    endAbandoned();
    if (waiting.filter((one) => one.address === address).length >= WAITING_EACH) throw new Ended(429, 'Too many batches of this address are waiting: send the next one when the last is answered');
    if (waiting.length >= WAITING) throw new Ended(503, 'Too many batches are waiting: send this one again in a few seconds');
    return new Promise((start, end) => {
      waiting.push({ address, isActive, start, end });
      startNext();
    });
  }

  return {
    async run(address, isActive, work) {
      await turn(address, isActive);
      try {
        return await work(pauseFor(isActive));
      } finally {
        running.delete(address);
        startNext();
      }
    },
  };
}

function pauseFor(isActive: () => boolean): Pause {
  let since = performance.now();
  return async () => {
    if (performance.now() - since >= SHARE) {
      await setImmediate();
      since = performance.now();
    }
    if (!isActive()) throw disconnected();
  };
}

function disconnected(): Ended {
  return new Ended(499, 'The client has disconnected');
}
