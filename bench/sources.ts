import { setTimeout as sleep } from 'node:timers/promises';
import { testServer, type TestServer } from '../core/testing.ts';
import { openSite, type Site } from '../plugins/ingest/test/site.ts';
import { onEachDatabase } from './databases.ts';

const SOURCES = 60;
const CADENCE_SECONDS = 60;
const LIMIT_SECONDS = CADENCE_SECONDS + 2;

/** How long it takes from a change of a site to its signal on an event stream. Each source is read every minute, and changes at a time of its own. */
export function benchSources(): Promise<boolean> {
  return onEachDatabase(measure);
}

async function measure(database: 'sqlite' | 'postgres'): Promise<boolean> {
  const site = await openSite();
  const kit = await testServer({
    database, listen: true, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
    config: { http: { fetch: { allow_private_addresses: true } }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0, per_host: 8 }, ingest: { cadence_seconds: CADENCE_SECONDS } } },
  });
  const stop = new AbortController();
  try {
    await watchAll(kit, site);
    const seen = new Map<string, number>();
    const reading = readStream(`${kit.url}/api/firehose?visibility=public`, stop.signal, (title) => { if (!seen.has(title)) seen.set(title, Date.now()); });
    const changed = await changeAll(site);
    for (const end = Date.now() + 2000 * LIMIT_SECONDS; seen.size < SOURCES && Date.now() < end;) await sleep(100);
    stop.abort();
    await reading;
    const seconds = [...changed].map(([title, at]) => ((seen.get(title) ?? Infinity) - at) / 1000);
    const late = quantile(seconds, 0.95);
    process.stdout.write(`\n${SOURCES} sources, read every ${CADENCE_SECONDS} s, on ${database}: from the change to the signal on a stream half within ${quantile(seconds, 0.5).toFixed(1)} s, 95 % within ${late.toFixed(1)} s (limit ${LIMIT_SECONDS})\n`);
    return late <= LIMIT_SECONDS;
  } finally {
    await kit.close();
    await site.close();
  }
}

const feed = (...titles: string[]) => `<rss version="2.0"><channel><title>News</title>${titles.map((title) => `<item><title>${title}</title><guid>${title}</guid><pubDate>${new Date().toUTCString()}</pubDate></item>`).join('')}</channel></rss>`;

/** Watches all sources, and returns when each was read once. */
async function watchAll(kit: TestServer, site: Site): Promise<void> {
  const as = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };
  for (let index = 0; index < SOURCES; index++) {
    site.pages[`/${index}.xml`] = feed('Before');
    const { status, body } = await kit.request('POST', '/api/watched-sources', { as, payload: { url: `${site.url}/${index}.xml`, visibility: 'public', test: false } });
    if (status !== 201) throw new Error(body.detail);
  }
  const isNew = async () => (await kit.request('GET', '/api/watched-sources?visibility=public&health=new', { as })).body.total > 0;
  while (await isNew()) await sleep(500);
}

/** Changes one site after the other within one cadence. Returns when each was changed, by the title of what it added. */
async function changeAll(site: Site): Promise<Map<string, number>> {
  const changed = new Map<string, number>();
  for (let index = 0; index < SOURCES; index++) {
    await sleep(1000 * CADENCE_SECONDS / SOURCES);
    changed.set(`After ${index}`, Date.now());
    site.pages[`/${index}.xml`] = feed('Before', `After ${index}`);
  }
  return changed;
}

async function readStream(url: string, signal: AbortSignal, onTitle: (title: string) => void): Promise<void> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal });
  if (!response.ok) throw new Error(await response.text());
  let text = '';
  try {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      for (const [, title] of text.matchAll(/"title":"(After \d+)"/g)) onTitle(title!);
      text = text.slice(text.lastIndexOf('\n\n') + 1);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!;
}
