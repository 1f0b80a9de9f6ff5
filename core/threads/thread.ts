import { Worker } from 'node:worker_threads';
import { ThreadError } from './error.ts';

export type Request = [name: string, given: unknown[]];
export type Reply = ['ready'] | ['result', value: unknown] | ['error', name: string, message: string, stack?: string];

export interface Thread {
  /** How many calls it was given. */
  readonly calls: number;
  /** Whether it ends or has ended. */
  readonly isLost: boolean;
  /** Resolves once the thread has ended. */
  readonly ended: Promise<void>;
  /** One call at a time. */
  call(name: string, given: unknown[]): Promise<unknown>;
  end(): Promise<void>;
}

/** Loading a module is not the fault of the call that waits for it, and takes long on a busy machine. */
const START_MS = 30_000;
/** How often the memory of the process is read during a call. */
const MEMORY_MS = 50;

export function createThread(module: URL, { seconds, memory_mb: memory }: { seconds: number; memory_mb: number }): Thread {
  // Without the options of the process, such as the limit of its heap.
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: module.href, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memory } });
  let calls = 0;
  let isReady = false;
  let lost: ThreadError | null = null;
  let current: { settle(reply: Reply): void; start(): void; fail(error: ThreadError): void } | null = null;
  const ended = new Promise<void>((resolve) => { worker.once('exit', () => resolve()); });

  function lose(error: ThreadError): void {
    lost ??= error;
    current?.fail(lost);
    void worker.terminate();
  }

  worker.on('message', (reply: Reply) => {
    if (reply[0] === 'ready') {
      isReady = true;
      current?.start();
    } else {
      current?.settle(reply);
    }
  });
  worker.on('messageerror', (cause) => lose(new ThreadError('failed', 'The result of the thread cannot be read.', { cause })));
  const outOfMemory = (options?: ErrorOptions) => new ThreadError('out_of_memory', `It needs more than ${memory} MB of memory.`, options);
  worker.on('error', (cause: NodeJS.ErrnoException) => lose(cause.code === 'ERR_WORKER_OUT_OF_MEMORY' ? outOfMemory({ cause }) : new ThreadError('failed', cause.message, { cause })));
  worker.once('exit', () => lose(new ThreadError('failed', 'The thread ended unexpectedly.')));
  worker.unref();

  return {
    get calls() { return calls; },
    get isLost() { return lost !== null; },
    ended,
    call(name, given) {
      calls++;
      return new Promise((resolve, reject) => {
        if (lost) return reject(lost);
        let timer: NodeJS.Timeout;
        // The limit of a worker does not include the bytes of typed arrays, such as unpacked streams, so the process is measured.
        const most = process.memoryUsage.rss() + 2 * memory * 1_000_000;
        const meter = setInterval(() => { if (process.memoryUsage.rss() > most) lose(outOfMemory()); }, MEMORY_MS);
        const done = () => {
          clearTimeout(timer);
          clearInterval(meter);
          current = null;
          worker.unref();
        };
        const limit = (milliseconds: number, what: string) => {
          clearTimeout(timer);
          timer = setTimeout(() => lose(new ThreadError('too_slow', `${what} takes longer than ${milliseconds / 1000} s.`)), milliseconds);
        };
        current = {
          start: () => limit(seconds * 1000, 'It'),
          settle(reply) {
            done();
            if (reply[0] === 'result') resolve(reply[1]);
            else if (reply[0] === 'error') reject(failure(...reply.slice(1) as [string, string, string?]));
          },
          fail(error) {
            done();
            reject(error);
          },
        };
        // A call keeps the process running, an idle thread does not.
        worker.ref();
        if (isReady) current.start();
        else limit(START_MS, 'The start of a thread');
        try {
          const sent = given.map(ownBytes);
          worker.postMessage([name, sent] satisfies Request, sent.filter((value) => value instanceof Uint8Array).map(({ buffer }) => buffer as ArrayBuffer));
        } catch (cause) {
          done();
          reject(new ThreadError('failed', 'The arguments cannot be sent to a thread.', { cause }));
        }
      });
    },
    async end() {
      lose(new ThreadError('failed', 'The threads are closed.'));
      worker.ref();
      await ended;
    },
  };
}

/** Copies bytes once, to hand the copy over: a message would copy the whole buffer of a slice, twice. The caller keeps its own. */
function ownBytes(value: unknown): unknown {
  return value instanceof Uint8Array ? Uint8Array.prototype.slice.call(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) : value;
}

function failure(name: string, message: string, stack?: string): ThreadError {
  return new ThreadError('failed', message, { cause: Object.assign(new Error(message), { name, stack }) });
}
