import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'undici';
import { startPostgres } from '../core/testing/postgres.ts';
import { parseArguments } from '../test/support/arguments.ts';
import { median, messageOf } from './harness.ts';

const LIMIT_MS = 50;
const COUNT = 40;
const DEEP = 40;

interface Served {
  port: number;
  cookie: string;
  key: string;
  /** The id of an open report whose target has many. */
  report: string;
  targets: number;
}

interface Measured {
  name: string;
  /** By the clock, one request in flight. */
  ms: number[];
  /** Of the server, a request. */
  cpu: number;
}

const PAGES: Record<string, string> = {
  'open, first page': '/console/reports',
  'suspected spam': '/console/reports?state=suspected',
  'dismissed': '/console/reports?state=dismissed',
  'of a large place': '/console/reports?place=kansas-city-mo',
  'of a type': '/console/reports?type=stale',
  'urgent': '/console/reports?severity=urgent',
  'low': '/console/reports?severity=low',
  'older than 90 days': '/console/reports?age=90',
  'sources': '/console/reports?target=source',
  'all filters': '/console/reports?place=kansas-city-mo&type=wrong_place&target=entity&severity=normal&age=30',
  'no match': '/console/reports?place=springfield-mo&type=paywalled&severity=urgent',
};

const LISTS: Record<string, string> = {
  'list': '/api/flags',
  'list of a type': '/api/flags?flag_type=stale',
  'list, type and status': '/api/flags?flag_type=stale&status=open',
  'list, status and target': '/api/flags?status=open&target_type=entity',
  'list of a large place': '/api/flags?place=kansas-city-mo',
  'list, place and status': '/api/flags?place=kansas-city-mo&status=open',
  'list, all filters': '/api/flags?place=kansas-city-mo&flag_type=stale&status=accepted&target_type=entity',
  'list, no match': '/api/flags?place=kansas-city-mo&flag_type=paywalled&target_type=entity',
};

/** Pages of the review queue and lists of the API with so many flags, on both databases, one request in flight. */
export async function benchFlags(args: string[], usage: string): Promise<boolean> {
  const { values } = parseArguments(usage, { args, options: { flags: { type: 'string', default: '100000' }, only: { type: 'string' } } });
  let isInside = true;
  if (values.only !== 'postgres') isInside = await benchDatabase('sqlite', values.flags, {}) && isInside;
  if (values.only === 'sqlite') return isInside;
  const postgres = await startPostgres();
  if (!('url' in postgres)) {
    process.stdout.write(`skipped on Postgres: ${postgres.missing}\n`);
    return isInside;
  }
  try {
    return await benchDatabase('postgres', values.flags, { CIVIC_TEST_PG_URL: postgres.url }) && isInside;
  } finally {
    await postgres.stop();
  }
}

async function benchDatabase(database: string, flags: string, env: Record<string, string>): Promise<boolean> {
  const child = fork(join(import.meta.dirname, 'servers/flags.js'), [database, flags], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    const served = await messageOf<Served>(child);
    process.stdout.write(`\n${Number(flags).toLocaleString('en-US')} flags in ${served.targets.toLocaleString('en-US')} entries of the queue, on ${database}\n`);
    const client = new Client(`http://127.0.0.1:${served.port}`);
    try {
      const measured: Measured[] = [];
      const pages = { ...PAGES, ...LISTS, 'a deep page': await deepPage(client, served), 'a report': `/console/reports/${served.report}` };
      for (const [name, path] of Object.entries(pages)) measured.push(await measure(child, client, served, name, path));
      return report(measured);
    } finally {
      await client.destroy();
    }
  } finally {
    if (child.connected) child.disconnect();
    if (child.exitCode === null) await once(child, 'exit');
  }
}

async function read(client: Client, { cookie, key }: Served, path: string): Promise<string> {
  const headers = path.startsWith('/api/') ? { accept: 'application/json', 'x-api-key': key } : { accept: 'text/html', cookie };
  const { statusCode, body } = await client.request({ method: 'GET', path, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path} is ${statusCode}`);
  return text;
}

/** Returns the path of a page after many others. */
async function deepPage(client: Client, served: Served): Promise<string> {
  let path = '/console/reports';
  for (let page = 0; page < DEEP; page++) {
    const next = /href="([^"]*)" rel="next"/.exec(await read(client, served, path))?.[1];
    if (next === undefined) return path;
    path = next.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
  }
  return path;
}

async function measure(child: ChildProcess, client: Client, served: Served, name: string, path: string): Promise<Measured> {
  for (let warm = 0; warm < 5; warm++) await read(client, served, path);
  const before = await cpuOf(child);
  const ms: number[] = [];
  for (let count = 0; count < COUNT; count++) {
    const started = performance.now();
    await read(client, served, path);
    ms.push(performance.now() - started);
  }
  return { name, ms, cpu: (await cpuOf(child) - before) / 1000 / COUNT };
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  return (await messageOf<{ cpu: number }>(child)).cpu;
}

function report(measured: Measured[]): boolean {
  let isInside = true;
  for (const { name, ms, cpu } of measured) {
    const [middle, slow] = [median(ms), ms.toSorted((a, b) => a - b)[Math.floor(ms.length * 0.95)]!];
    const isMissed = slow > LIMIT_MS;
    isInside &&= !isMissed;
    process.stdout.write(`  ${name.padEnd(24)} median ${middle.toFixed(1)} ms, p95 ${slow.toFixed(1)} ms, ${cpu.toFixed(1)} ms of CPU in the server${isMissed ? '  MISSED' : ''}\n`);
  }
  process.stdout.write(`  the limit is ${LIMIT_MS} ms by the clock in 95 of 100 requests\n`);
  return isInside;
}
