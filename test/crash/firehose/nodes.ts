import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from '../../support/civic.ts';
import { serveInProcess } from '../../support/serving.ts';
import type { Random } from './random.ts';

/** Where a server runs: in a process of its own, which can be killed, or in the process of the test, which saves a second of CPU. */
export type Where = 'process' | 'here';

export interface ServerNode {
  readonly url: string;
  readonly pid: number;
  /** 503 is then a right answer. */
  readonly isStopping: boolean;
}

/** The server processes of an instance, of which some may be down. */
export interface Nodes {
  /** One that runs. */
  any(random: Random): ServerNode | null;
  all(): ServerNode[];
  start(): Promise<void>;
  /** Ends one and starts it again. */
  restart(index: number, signal: 'SIGKILL' | 'SIGTERM', pauseMs: number): Promise<void>;
  /** What was wrong with them. */
  readonly faults: string[];
  /** SIGTERM to all. */
  stop(): Promise<void>;
  /** SIGKILL to what is left. */
  kill(): Promise<void>;
}

const TROUBLE = /"level":"(error|fatal)"|did not stop cleanly|UnhandledPromise|uncaught|database is locked|SQLITE_BUSY/i;

interface Running extends ServerNode {
  isStopping: boolean;
  output(): string;
  stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

async function startHere(instance: Instance): Promise<Running> {
  const { url, output, stop } = await serveInProcess(instance.configFile);
  return { url, pid: process.pid, isStopping: false, output, stop: async () => stop().then(() => 0) };
}

async function startProcess(instance: Instance): Promise<Running> {
  const { url, child, output, stop } = await instance.serve();
  return { url, pid: child.pid!, isStopping: false, output, stop };
}

/** `where` is asked with the number of each start, from 0. */
export function createNodes(instance: Instance, count: number, where: (start: number) => Where = () => 'process'): Nodes {
  const running: (Running | null)[] = Array.from({ length: count }, () => null);
  const faults: string[] = [];
  let starts = 0;

  async function startOne(index: number): Promise<void> {
    try {
      running[index] = where(starts++) === 'process' ? await startProcess(instance) : await startHere(instance);
    } catch (error) {
      faults.push((error as Error).message);
    }
  }

  async function endOne(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ending = running[index];
    if (!ending) return;
    ending.isStopping = true;
    const code = await ending.stop(signal);
    running[index] = null;
    if (signal === 'SIGTERM' && code !== 0) faults.push(`a server ended with exit code ${code} when it was asked to stop`);
    const line = ending.output().split('\n').find((words) => TROUBLE.test(words));
    if (line) faults.push(`a server was in trouble: ${line.slice(0, 800)}`);
  }

  const all = (): ServerNode[] => running.filter((node) => node !== null);
  return {
    faults,
    all,
    any: (random) => (all().length > 0 ? random.pick(all()) : null),
    // One after the other: the first brings the schema up to date.
    async start() { for (const index of running.keys()) await startOne(index); },
    async restart(index, signal, pauseMs) {
      await endOne(index, signal);
      await sleep(pauseMs);
      await startOne(index);
    },
    async stop() { await Promise.all(running.map((_, index) => endOne(index, 'SIGTERM'))); },
    async kill() {
      for (const [index, node] of running.entries()) {
        running[index] = null;
        await node?.stop('SIGKILL');
      }
    },
  };
}

const LOOK_MS = 300;
const TICKS_A_SECOND = 100;

/** Waits until a server has nothing to do: it has then taken in everything that was sent to it. */
export async function untilIdle({ pid }: ServerNode, milliseconds = 60_000): Promise<void> {
  const ticks = (): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  for (const end = performance.now() + milliseconds; performance.now() < end;) {
    const before = ticks();
    await sleep(LOOK_MS);
    if (ticks() - before < LOOK_MS / 1000 * TICKS_A_SECOND / 10) return;
  }
}
