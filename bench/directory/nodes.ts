import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withServer } from '../harness.ts';
import { benchDatabases, type BenchDatabase, type BenchOptions } from './databases.ts';
import { subjectsOf } from './subjects.ts';

const LIMIT_MS = 250;
const CHANGES = 200;
/** Often enough to tell, and not so often that asking is what keeps the node busy. */
const POLL_MS = 5;
const GIVE_UP_MS = 10_000;

/** How long after a commit on one node another one tells of it: in a list that it keeps ready, and in the counts it keeps in memory. */
export async function benchNodes(options: BenchOptions): Promise<boolean> {
  const [database] = (await benchDatabases({ ...options, only: 'postgres' })).filter(({ dialect }) => dialect === 'postgres');
  return database ? measure(database) : true;
}

async function measure(database: BenchDatabase): Promise<boolean> {
  const { usual } = await subjectsOf(database);
  const servers = join(import.meta.dirname, '../servers');
  const writer = fork(join(servers, 'writer.js'), [database.folder, database.url!, usual], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(writer, 'message');
  const write = async (number: number): Promise<number> => {
    writer.send({ number });
    return ((await once(writer, 'message')) as [{ at: number }])[0].at;
  };
  try {
    return await withServer({ module: join(servers, 'directory.js'), args: [database.folder, database.url!, '64'] }, async (url) => {
      const reads = {
        list: async () => (await answer(url, `/api/places/${usual}/entities`)).total as number,
        counts: async () => (await answer(url, '/api/issue-areas')).data.reduce((sum: number, { entity_count }: { entity_count: number }) => sum + entity_count, 0) as number,
      };
      const late: Record<string, number[]> = { list: [], counts: [] };
      for (let number = 0; number < CHANGES; number++) {
        const before = await Promise.all(Object.values(reads).map((read) => read()));
        const at = await write(number);
        await Promise.all(Object.entries(reads).map(async ([name, read], index) => { late[name]!.push(await untilTold(read, before[index]! + 1) - at); }));
      }
      const worst = Object.entries(late).map(([name, times]) => report(name, times));
      return Math.max(...worst) <= LIMIT_MS;
    });
  } finally {
    writer.send({ number: null });
    await once(writer, 'exit');
  }
}

/** When it was told, by the clock that all processes share. */
async function untilTold(read: () => Promise<number>, wanted: number): Promise<number> {
  for (const since = performance.now(); performance.now() - since < GIVE_UP_MS; await sleep(POLL_MS)) {
    if (await read() === wanted) return performance.timeOrigin + performance.now();
  }
  throw new Error(`The other node does not tell of a change after ${GIVE_UP_MS} ms`);
}

function report(name: string, times: number[]): number {
  const sorted = times.map((ms) => Math.max(0, ms)).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  process.stdout.write(`\nA change on another node, ${name}: p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, max ${at(1).toFixed(0)} ms of ${times.length} (limit ${LIMIT_MS} for p99)\n`);
  return at(0.99);
}

async function answer(url: string, path: string): Promise<any> {
  return (await fetch(url + path)).json();
}
