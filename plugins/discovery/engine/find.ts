import { setTimeout as sleep } from 'node:timers/promises';
import { addQueries, queriesOf, setAsked, type QueryRow, type SearchFault } from '../runs/queries-store.ts';
import { waitingPages, type NewPage } from '../runs/pages-store.ts';
import { updateRun } from '../runs/store.ts';
import { SearchError, type SearchEngine } from '../search/engines.ts';
import { pageAt, rankOf, sitemapPages } from './frontier.ts';
import { MOST_QUERIES, plannedQueries } from './queries.ts';
import { admit, BUDGETS, change, readAddress, type Reading } from './reading.ts';

const MOST_SITEMAPS = 10;

/** Collects the pages with which the run begins, besides its seeds. */
export async function findPages(reading: Reading): Promise<void> {
  const { run } = reading;
  await change(reading, (tx) => updateRun(tx, run.key, { status: 'running', phase: 'find', started_at: run.started_at }));
  await planQueries(reading);
  await addKnown(reading);
  await addIndexed(reading);
  await addSearched(reading);
  await addSitemaps(reading);
  await change(reading, (tx) => updateRun(tx, run.key, { phase: 'read' }));
}

async function planQueries(reading: Reading): Promise<void> {
  const { run, place, subjects } = reading;
  if (!place) return;
  const queries = plannedQueries(subjects, place.name, MOST_QUERIES[run.depth]);
  await change(reading, async (tx) => {
    await addQueries(tx, run.key, queries);
    await updateRun(tx, run.key, { queries: queries.length });
  });
}

/** Adds pages about the place that other plugins know, such as watched sources. */
async function addKnown(reading: Reading): Promise<void> {
  const { discovery: { civic, addresses }, run: { place_key, workspace_id } } = reading;
  if (place_key === null) return;
  const known = await Promise.all(addresses.map((find) => find(civic.db.read, { place_key, workspace_id })));
  await change(reading, (tx) => admit(reading, tx, pagesAt(known.flat(), rankOf.known)));
}

/** Adds pages that were read before and that the queries find: public ones, and those of the workspace. */
async function addIndexed(reading: Reading): Promise<void> {
  const { discovery: { civic, reader }, run } = reading;
  const queries = await queriesOf(civic.db.read, run.key);
  const found = await reader.find(civic.db.read, { workspace_id: run.workspace_id, queries: queries.map(({ query }) => query), limit: BUDGETS[run.depth].pages });
  const pages = found.flatMap(({ url, title }) => pagesAt([url], rankOf.indexed).map((page) => ({ ...page, title })));
  await change(reading, (tx) => admit(reading, tx, pages));
}

/** Adds what the search engines of the operator find. An engine that fails is a gap of the run, and is not asked again. */
async function addSearched(reading: Reading): Promise<void> {
  const { discovery: { civic, engines }, run } = reading;
  if (engines.length === 0) return;
  const failed = new Set<SearchEngine>();
  for (const query of (await queriesOf(civic.db.read, run.key)).filter(({ is_asked }) => !is_asked)) {
    if (failed.size === engines.length) return;
    const found: NewPage[] = [];
    const faults: SearchFault[] = [];
    for (const engine of engines.filter((one) => !failed.has(one))) {
      const result = await searched(reading, engine, query);
      if (Array.isArray(result)) found.push(...pagesAt(result, rankOf.searched));
      else {
        failed.add(engine);
        faults.push(result);
      }
    }
    await change(reading, async (tx) => {
      await setAsked(tx, query.key, faults);
      await admit(reading, tx, found);
    });
  }
}

async function searched({ place, job, discovery: { civic } }: Reading, engine: SearchEngine, { query }: QueryRow): Promise<string[] | SearchFault> {
  try {
    const results = await engine.search(place?.state ? `${query} ${place.state}` : query, job.signal);
    await sleep(engine.pauseMs, undefined, { signal: job.signal });
    return results;
  } catch (error) {
    job.signal.throwIfAborted();
    if (!(error instanceof SearchError)) throw error;
    civic.log.warn({ engine: engine.name, reason: error.message }, 'A search engine could not be used');
    return { engine: engine.name, detail: error.message };
  }
}

/** Adds likely pages of the sitemaps of the hosts of seeds and known pages. */
async function addSitemaps(reading: Reading): Promise<void> {
  const { discovery, run } = reading;
  const seeds = (await waitingPages(discovery.civic.db.read, run.key, 100)).filter(({ rank }) => rank <= rankOf.known);
  const origins = [...new Set(seeds.map(({ url }) => new URL(url).origin))].slice(0, MOST_SITEMAPS);
  // Each is on another host, so that they can be requested at once.
  const found = await Promise.all(origins.map(async (origin) => {
    const read = await readAddress({ ...reading, browser: null }, { url: `${origin}/sitemap.xml`, rank: rankOf.sitemap });
    return read.content ? sitemapPages(Buffer.from(read.content.body).toString('utf8'), new URL(origin).host) : [];
  }));
  await change(reading, (tx) => admit(reading, tx, found.flat()));
}

function pagesAt(urls: string[], rank: number): NewPage[] {
  return urls.flatMap((url) => pageAt(url) ?? []).map((page) => ({ ...page, rank }));
}
