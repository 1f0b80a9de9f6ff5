import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance, Starting } from '../support/civic.ts';
import { openPool, type Target } from './writers.ts';

/** A server process that is killed and started again, and what was wrong with it on the way. */
export interface Node extends Target {
  readonly faults: string[];
  start(): Promise<void>;
  /** Starts it and kills it that much later, ready or not. */
  startAndKill(milliseconds: number): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM: it ends what it has begun, and says nothing of trouble. */
  terminate(): Promise<void>;
}

export interface NodeOptions {
  instance: Instance;
  connections: number;
  isDatabaseAway: () => boolean;
}

export function createNode({ instance, connections, isDatabaseAway }: NodeOptions): Node {
  const faults: string[] = [];
  let running: Starting | null = null;
  let isStopping = false;
  let hadOutage = false;

  function inspect(output: string): void {
    if (/database is locked|SQLITE_BUSY/.test(output)) faults.push(`the server spoke of a locked database: ${lineWith(output, /database is locked|SQLITE_BUSY/)}`);
    if (/did not stop cleanly|UnhandledPromise|uncaught/i.test(output)) faults.push(`the server was in trouble: ${lineWith(output, /did not stop cleanly|UnhandledPromise|uncaught/i)}`);
    if (!hadOutage && /"level":"(error|fatal)"/.test(output)) faults.push(`the server logged an error: ${lineWith(output, /"level":"(error|fatal)"/)}`);
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = running!;
    running = null;
    isStopping = signal === 'SIGTERM';
    const stopped = ending.stop(signal);
    // What was answered before the kill is still on its way, so requests are not cut here.
    const old = node.pool;
    node.pool = null;
    void old?.close().catch(() => undefined);
    const code = await stopped;
    isStopping = false;
    inspect(ending.output());
    return code;
  }

  const node: Node = {
    pool: null,
    faults,
    mayRefuse() {
      hadOutage ||= isDatabaseAway();
      return isStopping || isDatabaseAway();
    },
    async start() {
      hadOutage = isDatabaseAway();
      running = await instance.start();
      await running.ready();
      node.pool = openPool(running.url, connections);
    },
    async startAndKill(milliseconds) {
      running = await instance.start();
      await sleep(milliseconds);
      await end('SIGKILL');
    },
    async kill() {
      await end('SIGKILL');
    },
    async terminate() {
      const code = await end('SIGTERM');
      if (code !== 0) faults.push(`the server ended with exit code ${code} when it was asked to stop`);
    },
  };
  return node;
}

function lineWith(output: string, pattern: RegExp): string {
  return output.split('\n').find((line) => pattern.test(line))!.slice(0, 500);
}
