import { median, withServer } from '../harness.ts';
import { join } from 'node:path';
import { benchDatabases, type BenchDatabase, type BenchOptions } from './databases.ts';
import { subjectsOf } from './subjects.ts';

const LIMIT = 2;
const DEEP = 10_000;
const TIMES = 41;
/** Words of names and texts alike, so that there are pages in every tier; the last one is a beginning. */
const QUERIES = ['community', 'public health', 'hous'];

/** The first page of a list and its ten-thousandth, or its last when it has fewer, by the clock, one after the other; by relevance pages of every tier. */
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
    for (const path of ['/api/entities?sort=name', `/api/places/${largest}/entities?sort=name`, ...QUERIES.map((query) => `/api/entities?query=${encodeURIComponent(query)}`)]) {
      const later = await laterPages(url, path);
      const pages = [`${path}&limit=25`, ...later.map(({ at }) => at)];
      const times: number[][] = pages.map(() => []);
      for (let round = 0; round < TIMES; round++) for (const [index, one] of pages.entries()) times[index]!.push(await timeOf(url + one));
      const [first, ...others] = times.map(median) as [number, ...number[]];
      process.stdout.write(`\nDepth on ${database.dialect}: ${path}: page 1 ${first.toFixed(1)} ms (limit ${LIMIT} times that)\n`);
      for (const [index, { page, tier }] of later.entries()) {
        const ratio = others[index]! / first;
        isInside &&= ratio <= LIMIT;
        process.stdout.write(`  page ${page.toLocaleString('en-US').padStart(6)}${tier ? `, after a row of tier ${tier}` : ''}: ${others[index]!.toFixed(1)} ms, ${ratio.toFixed(2)}x\n`);
      }
    }
    return isInside;
  });
}

interface LaterPage {
  at: string;
  page: number;
  /** By relevance: how well the last row before it fits. */
  tier: number | null;
}

/**
 * Goes to the end by pages of a hundred; pages of 25 after such positions are the ones wanted: the last of all, and
 * by relevance the first and the last that begin in each tier.
 */
async function laterPages(url: string, path: string): Promise<LaterPage[]> {
  let cursor: string | null = null;
  let page = 1;
  const first = new Map<number | null, LaterPage>();
  const last = new Map<number | null, LaterPage>();
  const at = (limit: number) => (cursor ? `${path.split('?')[0]}?limit=${limit}&cursor=${cursor}` : `${path}&limit=${limit}`);
  while (page < DEEP) {
    const { next_cursor } = await (await fetch(url + at(100))).json() as { next_cursor: string | null };
    if (!next_cursor) break;
    cursor = next_cursor;
    page += 4;
    const tier = path.includes('query=') ? tierOf(cursor) : null;
    const here = { at: at(25), page, tier };
    if (tier !== null && !first.has(tier)) first.set(tier, here);
    last.set(tier, here);
  }
  return [...new Set([...first.values(), ...last.values()])].sort((a, b) => a.page - b.page);
}

/** A cursor is JSON and a check of eight letters; by relevance its position is the tier and the rank. */
function tierOf(cursor: string): number {
  const [, [tier]] = JSON.parse(Buffer.from(cursor.slice(0, -8), 'base64url').toString()) as [object, [number, number]];
  return tier;
}

async function timeOf(url: string): Promise<number> {
  const started = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - started;
}
