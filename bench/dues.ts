import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../core/clock.ts';
import type { OpenDatabase } from '../core/database/connect.ts';
import { databases, quiet } from '../core/database/test/support.ts';
import { prepare } from '../core/test/processes/notes.ts';
import { createJobs, type JobQueue } from '../core/jobs.ts';
import { startPostgres } from '../core/testing/postgres.ts';

const KEYS = 5000;
const PERIOD_SECONDS = 3600;
const SECONDS = 60;
const POLL_SECONDS = 1;
const LIMITS = { share: 2, lateMs: 2000 };

/** What 5,000 jobs that run by key each hour cost: the CPU of scheduling, and how late they run. None may run early or twice. */
export async function benchDues(): Promise<boolean> {
  const postgres = await startPostgres();
  if ('missing' in postgres) process.stdout.write(`skipped on Postgres: ${postgres.missing}\n`);
  else process.env.CIVIC_TEST_PG_URL = postgres.url;
  try {
    let isInside = true;
    for (const { dialect, create } of databases()) {
      const database = await create();
      await prepare(await database.open());
      const workers = dialect === 'postgres' ? 3 : 1;
      isInside = await measure(dialect, await Promise.all(Array.from({ length: workers }, () => database.open()))) && isInside;
      await database.drop();
    }
    return isInside;
  } finally {
    if (!('missing' in postgres)) await postgres.stop();
  }
}

async function measure(dialect: string, open: OpenDatabase[]): Promise<boolean> {
  const runs: { key: string; at: number }[] = [];
  const queues: JobQueue[] = [];
  for (const db of open) {
    const queue = createJobs({ db: () => db, log: quiet, clock: systemClock, role: 'all', concurrency: 4, networkConcurrency: 8, pollSeconds: POLL_SECONDS });
    queue.of('bench').define<{ key: string }>({ name: 'bench.read', by_key: true, lane: 'network', async run({ payload }) { runs.push({ key: payload.key, at: Date.now() }); } });
    queues.push(queue);
  }
  for (const queue of queues) await queue.start();
  const idle = await cpuOf(SECONDS);
  const startsAt = Date.now() + 1000;
  const due = new Map(Array.from({ length: KEYS }, (_, index) => [`key-${index}`, startsAt + (index * PERIOD_SECONDS * 1000) / KEYS]));
  const jobs = queues[0]!.of('bench');
  await open[0]!.write(async (tx) => { for (const [key, at] of due) await jobs.setDue(tx, 'bench.read', key, { at: new Date(at).toISOString(), every_seconds: PERIOD_SECONDS }); });
  await sleep(2000);
  const busy = await cpuOf(SECONDS);
  for (const queue of queues) await queue.stop();
  const early = runs.filter(({ key, at }) => at < due.get(key)!).length;
  const twice = runs.length - new Set(runs.map(({ key }) => key)).size;
  const late = Math.max(...runs.map(({ key, at }) => at - due.get(key)!));
  const missed = [...due].filter(([key, at]) => at < Date.now() - LIMITS.lateMs && !runs.some((run) => run.key === key)).length;
  const share = 100 * (busy - idle) / SECONDS;
  process.stdout.write(`\n${KEYS} keys each hour on ${dialect}, ${open.length === 1 ? 'one worker' : `${open.length} workers`}: ${runs.length} ran in ${SECONDS} s\n`
    + `  CPU of scheduling ${share.toFixed(2)} % of a core (limit ${LIMITS.share}); polling alone ${(100 * idle / SECONDS).toFixed(2)} %\n`
    + `  ${early} early, ${twice} twice, ${missed} missed, the latest ${Math.round(late)} ms late (limit ${LIMITS.lateMs})\n`);
  return share < LIMITS.share && early === 0 && twice === 0 && missed === 0 && late < LIMITS.lateMs;
}

/** Returns the seconds of CPU of this process while it waits. */
async function cpuOf(seconds: number): Promise<number> {
  const before = process.cpuUsage();
  await sleep(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
