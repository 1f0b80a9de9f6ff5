import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../core/ids.ts';
import { testServer, type TestServer } from '../core/testing.ts';
import { parseDocument } from '../plugins/reader/parse/document.ts';
import { openWeb, type Web } from '../test/discovery/web.ts';
import { onEachDatabase } from './databases.ts';

/** As many as a run reads at once. */
const AT_ONCE = 4;
/** Servers on the internet take at least this long to respond. */
const DELAY_MS = 100;
const ROUNDS = 3;
const LEAST_SHARE = 0.7;

/** How many pages a second a run reads, against a loop that only fetches and parses the same pages, as many at once. */
export function benchDiscovery(): Promise<boolean> {
  return onEachDatabase(measure);
}

async function measure(database: 'sqlite' | 'postgres'): Promise<boolean> {
  const web = await openWeb({ hasTraps: false, delayMs: DELAY_MS });
  const kit = await testServer({
    database, plugins: ['directory', 'reader', 'accounts', 'discovery'],
    config: { http: { fetch: { allow_private_addresses: true } }, plugins: { reader: { delay_seconds: 0, per_host: AT_ONCE, browser_fallback_enabled: false } } },
  });
  try {
    const shares: number[] = [];
    const rates: number[][] = [];
    await run(kit, web);
    for (let round = 0; round < ROUNDS; round++) {
      const [ours, bare] = [await run(kit, web), await loop(web)];
      rates.push([ours, bare]);
      shares.push(ours / bare);
    }
    const middle = (values: number[]): number => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
    const share = middle(shares);
    process.stdout.write(`\na discovery run on ${database}, pages that take ${DELAY_MS} ms, ${AT_ONCE} at once: ${middle(rates.map(([ours]) => ours!)).toFixed(1)} pages a second; only fetched and parsed ${middle(rates.map(([, bare]) => bare!)).toFixed(1)}; `
      + `${(100 * share).toFixed(0)} % (limit ${100 * LEAST_SHARE})\n`);
    return share >= LEAST_SHARE;
  } finally {
    await kit.close();
    await web.close();
  }
}

/** Returns the pages a second of one run, from its request to its last page; the comparison with the directory comes after it. */
async function run(kit: TestServer, web: Web): Promise<number> {
  const as = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner' as const, scope: ['discovery:read', 'discovery:write'], capabilities: ['discovery'], plan: 'individual' as const };
  const started = performance.now();
  const { body, status } = await kit.request('POST', '/api/discovery-runs', { as, payload: { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], depth: 'deep', seeds: web.seeds } });
  if (status !== 202) throw new Error(body.detail);
  for (;;) {
    const { body: now } = await kit.request('GET', `/api/discovery-runs/${body.id}`, { as });
    if (now.status === 'failed') throw new Error(now.error.detail);
    if (now.progress.phase === 'match') return now.counts.sources_fetched / ((performance.now() - started) / 1000);
    await sleep(20);
  }
}

/** Returns the pages a second of a loop that follows the same links. */
async function loop(web: Web): Promise<number> {
  const started = performance.now();
  const known = new Set(web.seeds);
  const waiting = [...known];
  let count = 0;
  let busy = 0;
  await new Promise<void>((done, failed) => {
    const next = (): void => {
      if (waiting.length === 0 && busy === 0) done();
      for (; busy < AT_ONCE && waiting.length > 0; busy++) {
        read(waiting.shift()!).then((links) => {
          for (const url of links) if (!known.has(url)) waiting.push(known.add(url) && url);
          count++;
          busy--;
          next();
        }).catch(failed);
      }
    };
    next();
  });
  return count / ((performance.now() - started) / 1000);
}

async function read(url: string): Promise<string[]> {
  const response = await fetch(url);
  const body = new Uint8Array(await response.arrayBuffer());
  const document = await parseDocument({ url, content_type: response.headers.get('content-type') ?? '', charset: 'utf-8' }, body);
  return document.links.map((link) => link.url.replace(/#.*/, '')).filter((link) => link.startsWith(`${new URL(url).origin}/`) && !link.includes('/internal/'));
}
