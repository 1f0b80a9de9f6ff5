import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { createInstance, type Instance, type Served } from '../support/civic.ts';
import { openWeb, type Web } from '../discovery/web.ts';
import type { OpenDatabase } from '../../core/database/connect.ts';
import { look } from './facts.ts';

export interface RunKillOptions {
  /** Of an empty Postgres database; null is SQLite. */
  url: string | null;
  kills: number;
  /** How many sites of about fifty pages the runs read. */
  towns: number;
  onProgress?: (words: string) => void;
}

export interface RunKillReport {
  /** How often the server was killed while a run was open. */
  kills: number;
  runs: number;
  pages: number;
  candidates: number;
  /** Requests that were repeated because their responses had not arrived when the server was killed. */
  repeated: number;
  faults: string[];
}

interface Candidate { type: string; name: string; score: number; sources: { url: string }[]; claims: { property: string; value: unknown; excerpt: string }[] }
interface Stand { instance: Instance; url: string | null; key: string; web: Web }

/** How many pages a run reads at once. */
const AT_ONCE = 4;
const DELAY_MS = 10;
const LONGEST_LIFE_MS = 1500;

/** Kills the server of discovery runs again and again, and compares what they find with a run that nothing disturbed. */
export async function killDiscovery({ url, kills, towns, onProgress = () => undefined }: RunKillOptions): Promise<RunKillReport> {
  const web = await openWeb({ hasTraps: false, towns, delayMs: DELAY_MS });
  const instance = createInstance(settings(url));
  const report: RunKillReport = { kills: 0, runs: 0, pages: 0, candidates: 0, repeated: 0, faults: [] };
  try {
    let served = await instance.serve();
    const stand = { instance, url, web, key: await createKey(instance) };
    const expected = await finish(stand, served, await start(stand, served));
    Object.assign(report, { pages: requestsOf(web).length, candidates: expected.length });
    while (report.kills < kills && report.faults.length === 0) {
      for (const site of web.sites) site.requests.length = 0;
      const id = await start(stand, served);
      const before = report.kills;
      while (report.kills < kills && await isOpen(stand, served, id)) {
        await sleep(Math.random() * LONGEST_LIFE_MS);
        await served.stop('SIGKILL');
        if (url !== null) await endLeases(stand);
        report.kills += 1;
        served = await instance.serve();
        onProgress(`${report.kills} of ${kills} kills in ${report.runs + 1} runs`);
      }
      const found = await finish(stand, served, id);
      report.runs += 1;
      report.faults.push(...compare(expected, found), ...await repeatedReads(stand, id));
      const repeated = requestsOf(web).length - new Set(requestsOf(web)).size;
      report.repeated += repeated;
      if (repeated > AT_ONCE * (report.kills - before)) report.faults.push(`${repeated} requests were repeated in ${report.kills - before} kills, more than were under way`);
    }
    await served.stop();
  } finally {
    await web.close();
    instance.remove();
  }
  return report;
}

function settings(url: string | null): object {
  return {
    database: { url }, http: { fetch: { allow_private_addresses: true } }, log: { level: 'warn', access: 'warn', format: 'json' }, jobs: { poll_seconds: 0.1 },
    plugins: { directory: {}, accounts: {}, reader: { delay_seconds: 0, per_host: 4, browser_fallback_enabled: false }, discovery: {} },
  };
}

/** Returns what differs between the candidates of two runs. */
export function compare(expected: string[], found: string[]): string[] {
  const [before, after] = [new Set(expected), new Set(found)];
  return [
    ...expected.filter((one) => !after.has(one)).map((one) => `a killed run does not have ${one}`),
    ...found.filter((one) => !before.has(one)).map((one) => `only a killed run has ${one}`),
    ...(found.length === after.size ? [] : ['a killed run has a candidate twice']),
  ];
}

async function createKey(instance: Instance): Promise<string> {
  const run = async (...words: string[]): Promise<any> => JSON.parse((await instance.civicInProcess(...words, '--json')).stdout);
  const { id } = await run('account', 'create', '--name', 'Ada', '--plan', 'team');
  return (await run('key', 'create', '--account', id)).key;
}

async function request({ key }: Stand, { url }: Served, path: string, body?: object): Promise<any> {
  const response = await fetch(`${url}/api/discovery-runs${path}`, { method: body ? 'POST' : 'GET', headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} is ${response.status}: ${await response.text()}`);
  return response.json();
}

async function start(stand: Stand, served: Served): Promise<string> {
  return (await request(stand, served, '', { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], depth: 'deep', seeds: stand.web.seeds })).id;
}

async function isOpen(stand: Stand, served: Served, id: string): Promise<boolean> {
  const { status, error } = await request(stand, served, `/${id}`);
  if (status === 'failed') throw new Error(`The run failed: ${JSON.stringify(error)}`);
  return status !== 'completed';
}

/** Waits for the end of a run. Returns its candidates, each as one text, without what a second run has by another order of its pages. */
async function finish(stand: Stand, served: Served, id: string): Promise<string[]> {
  while (await isOpen(stand, served, id)) await sleep(100);
  const candidates: Candidate[] = [];
  for (let cursor = ''; ;) {
    const { data, next_cursor } = await request(stand, served, `/${id}/candidates?limit=100${cursor}`);
    candidates.push(...data);
    if (next_cursor === null) break;
    cursor = `&cursor=${next_cursor}`;
  }
  return candidates.map(({ type, name, score, sources, claims }) => JSON.stringify([type, name.replace(/^the /, ''), score, sources.map(({ url }) => url).toSorted(), claims.map(({ property, value, excerpt }) => JSON.stringify([property, value, excerpt])).toSorted()])).toSorted();
}

const requestsOf = ({ sites }: Web): string[] => sites.flatMap(({ origin, requests }) => requests.filter((path) => path !== '/robots.txt').map((path) => origin + path));

/** Returns the pages whose responses were stored more than once during a run. */
async function repeatedReads(stand: Stand, id: string): Promise<string[]> {
  return beside(stand, async (db) => {
    const { started_at } = await db.read('discovery_runs').where({ id }).first('started_at');
    const reads: { url: string; count: number }[] = await db.read('reader_fetches').where('at', '>=', started_at).whereNotNull('status').groupBy('url').having(db.read.raw('count(*) > 1')).select('url').count('* as count');
    return reads.map(({ url, count }) => `${url} was stored ${count} times`);
  });
}

/** On Postgres the jobs of a killed server wait until their leases are over; on SQLite the next server ends them. */
async function endLeases(stand: Stand): Promise<void> {
  await beside(stand, (db) => db.write((tx) => tx('core_jobs').where({ state: 'running' }).update({ lease_until: new Date(Date.now() - 60_000).toISOString() })));
}

function beside<T>({ url, instance }: Stand, work: (db: OpenDatabase) => Promise<T>): Promise<T> {
  return look(url, join(instance.folder, 'data'), work);
}
