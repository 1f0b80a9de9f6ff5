import { median, withServer } from '../harness.ts';
import { join } from 'node:path';
import { benchDatabases, type BenchDatabase, type BenchOptions } from './databases.ts';
import { subjectsOf } from './subjects.ts';

const LIMIT = 2;
const DEEP = 10_000;
const TIMES = 41;

/** The first page of a list and its ten-thousandth, or its last when it has fewer, by the clock, one after the other. */
export async function benchDepth(options: BenchOptions): Promise<boolean> {
  let isInside = true;
  for (const database of await benchDatabases(options)) isInside = await measure(database) && isInside;
  return isInside;
}

async function measure(database: BenchDatabase): Promise<boolean> {
  const { largest } = await subjectsOf(database);
  const server = { module: join(import.meta.dirname, '../servers/directory.js'), args: [database.folder, database.url ?? '', '0'] };
  return withServer(server, async (url) => {
    let isInside = true;
    for (const path of ['/api/entities?sort=name', `/api/places/${largest}/entities?sort=name`]) {
      const { deep, page } = await deepPage(url, path);
      const times: number[][] = [[], []];
      for (let round = 0; round < TIMES; round++) for (const [index, one] of [`${path}&limit=25`, deep].entries()) times[index]!.push(await timeOf(url + one));
      const [first, later] = times.map(median) as [number, number];
      isInside &&= later <= LIMIT * first;
      process.stdout.write(`\nDepth on ${database.dialect}: ${path}: page 1 ${first.toFixed(1)} ms, page ${page.toLocaleString('en-US')} ${later.toFixed(1)} ms, ${(later / first).toFixed(2)}x (limit ${LIMIT})\n`);
    }
    return isInside;
  });
}

/** Goes there by pages of a hundred; a page of 25 after that position is the one wanted. */
async function deepPage(url: string, path: string): Promise<{ deep: string; page: number }> {
  let cursor: string | null = null;
  let page = 1;
  const at = (limit: number) => (cursor ? `${path.split('?')[0]}?limit=${limit}&cursor=${cursor}` : `${path}&limit=${limit}`);
  while (page < DEEP) {
    const { next_cursor } = await (await fetch(url + at(100))).json() as { next_cursor: string | null };
    if (!next_cursor) break;
    cursor = next_cursor;
    page += 4;
  }
  return { deep: at(25), page };
}

async function timeOf(url: string): Promise<number> {
  const started = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - started;
}
