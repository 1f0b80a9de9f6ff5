import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { OpenDatabase } from '../../database/connect.ts';
import { quiet } from '../quiet.ts';
import { createJobs, type RunningJob } from '../../jobs.ts';

export interface WorkerOptions {
  by: string;
  /** Never ends the third job. */
  holdsThird?: boolean;
  onBegin?: (payload: number) => void;
  /** What the job `notes.deadly` does. */
  die: () => Promise<void>;
}

/** Starts a worker that writes down when it begins and ends each job. */
export async function startWorker(db: OpenDatabase, { by, holdsThird = false, onBegin, die }: WorkerOptions): Promise<{ stop(): Promise<void> }> {
  let begun = 0;
  const queue = createJobs({ db: () => db, log: quiet, clock: systemClock, role: 'all', concurrency: 4, networkConcurrency: 4, pollSeconds: 0.2 });
  const jobs = queue.of('notes');
  async function work(number: number, write: RunningJob['write']): Promise<void> {
    await write((tx) => tx('notes_heard').insert({ plugin: 'begin', number, by }));
    onBegin?.(number);
    if (++begun === 3 && holdsThird) await new Promise(() => undefined);
    await sleep(20 + Math.random() * 30);
    await write((tx) => tx('notes_heard').insert({ plugin: 'end', number, by }));
  }
  // A lease that is long enough that a worker on a busy machine does not lose it.
  jobs.define<number>({ name: 'notes.work', lease_seconds: 9, run: ({ payload, write }) => work(payload, write) });
  jobs.define<{ key: string }>({ name: 'notes.due', by_key: true, lane: 'network', lease_seconds: 9, run: ({ payload, write }) => work(Number(payload.key), write) });
  jobs.define({ name: 'notes.deadly', lease_seconds: 1, max_attempts: 2, run: die });
  await queue.start();
  return { async stop() { await queue.stop(); } };
}
