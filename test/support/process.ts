import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import type { Done, Order } from './worker.ts';

const WORKER = join(import.meta.dirname, 'worker.js');
const WATCH_MS = 250;
const EXIT_MS = 10_000;

/** The result of one file in a worker. */
export interface Run {
  /** The report of the worker; null when the worker ended without one. */
  done: Done | null;
  /** The output of the file. */
  output: string;
  isStalled: boolean;
  code: number | null;
  signal: string | null;
}

/** A process that runs test files one after the other. */
export interface Worker {
  /** Runs one file; ends the process when neither `order.report` nor the output has grown for `stallMs`. */
  run(order: Order, stallMs: number): Promise<Run>;
  /** Also ends processes that its files have left running. */
  end(): Promise<void>;
}

const running = new Set<ChildProcess>();

function endGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
}

export function endAllWorkers(): void {
  for (const child of running) endGroup(child);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

export function startWorker(env: NodeJS.ProcessEnv, outputFile: string): Worker {
  // A file keeps the order of both streams, and is complete when the worker reports that it is done.
  const output = openSync(outputFile, 'a');
  const child = spawn(process.execPath, [WORKER], { cwd: projectRoot, env, stdio: ['ignore', output, output, 'ipc'], detached: true });
  closeSync(output);
  running.add(child);
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => {
      endGroup(child);
      running.delete(child);
      resolve();
    });
  });
  let read = 0;

  return {
    async run(order, stallMs) {
      let isStalled = false;
      let size = 0;
      let since = performance.now();
      const watch = setInterval(() => {
        const now = sizeOf(order.report) + sizeOf(outputFile);
        if (now !== size) since = performance.now();
        size = now;
        if (performance.now() - since < stallMs) return;
        isStalled = true;
        endGroup(child);
      }, WATCH_MS);
      const done = await new Promise<Done | null>((resolve) => {
        child.once('message', (message) => { resolve(message as unknown as Done); });
        void ended.then(() => { resolve(null); });
        child.send(order, () => undefined);
      });
      clearInterval(watch);
      child.removeAllListeners('message');
      const written = readFileSync(outputFile);
      const text = written.subarray(read).toString();
      read = written.length;
      return { done, output: text, isStalled, code: child.exitCode, signal: child.signalCode };
    },
    async end() {
      // The worker exits by itself, because coverage is written at its exit.
      if (child.connected) child.disconnect();
      const late = setTimeout(() => { endGroup(child); }, EXIT_MS);
      await ended;
      clearTimeout(late);
      rmSync(outputFile, { force: true });
    },
  };
}
