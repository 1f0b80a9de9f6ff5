import { join } from 'node:path';
import { compare, median, type Row, type Target } from '../harness.ts';
import type { SiteBench } from './run.ts';
import { startSite, type SiteServer } from './server.ts';
import { siteSubjects } from './subjects.ts';

const LIMIT = 0.5;
const ROUNDS = { rounds: 9, seconds: 0.4 };
const COLD_TIMES = 21;
const GZIP = { 'accept-encoding': 'gzip' };

interface Read {
  name: string;
  page: string;
  /** The read of the API that has most of what the page shows. */
  json: string;
  /** All reads of the API that the page shows. */
  all: string[];
}

/** Requests a second of pages, against the reads of the API that have the same data: from the response cache; and without it, one at a time. */
export async function benchRates({ database, actors }: SiteBench): Promise<boolean> {
  const { places: [largest, ...places], actors: [, ...ids], searches } = await siteSubjects(database, actors, 500);
  const reads = readsOf({ largest: largest!, place: places.at(-1)!, actor: ids.at(-1)!, search: searches.at(-1)! });
  const site = (megabytes: number) => ({ module: join(import.meta.dirname, '../servers/site.js'), args: [database.folder, String(megabytes)] });
  let isInside = true;
  for (const { name, page, json } of reads) {
    isInside = await measure(`${name} from the response cache`, { ...site(64), name: 'JSON', path: json, headers: GZIP }, { ...site(64), name: 'page', path: page, headers: GZIP }) && isInside;
  }
  const cold = await startSite(database.folder, 0);
  try {
    for (const read of reads) isInside = await measureCold(cold, read) && isInside;
  } finally {
    await cold.stop();
  }
  return isInside;
}

function readsOf({ largest, place, actor, search }: Record<'largest' | 'place' | 'actor' | 'search', string>): Read[] {
  const ofPlace = (key: string): Omit<Read, 'name'> => {
    const path = `/api/places/${key}`;
    const all = [path, `${path}/coverage`, `${path}/entities?sort=source_count&limit=100`, `${path}/sources?limit=5`, `/api/firehose?visibility=public&limit=5&place=${key}`, `${path}/meetings.ics`];
    return { page: `/places/${key}`, json: `${path}/entities`, all };
  };
  return [
    { name: 'Home', page: '/', json: '/api/issue-areas', all: ['/api/issue-areas', '/api/domains', '/api/places?limit=12', '/api/entities?entity_type=event&limit=5', '/api/firehose?visibility=public&limit=5'] },
    { name: 'A place', ...ofPlace(place) },
    { name: 'The largest place', ...ofPlace(largest) },
    { name: 'An actor', page: `/actors/${actor}`, json: `/api/entities/${actor}`, all: ['', '/related?limit=6', '/history?limit=1'].map((part) => `/api/entities/${actor}${part}`) },
    { name: 'A search', page: `/search?${search}`, json: `/api/entities?${search}&facets=true`, all: [`/api/entities?${search}&facets=true`, `/api/places?${search}`, `/api/issue-areas?${search}`] },
  ];
}

async function measure(name: string, json: Target, page: Target): Promise<boolean> {
  const rows = await compare([json, page], ROUNDS);
  const isInside = rows[1]!.rate >= LIMIT;
  process.stdout.write(`  ${name.padEnd(40)} ${rows.map(figures).join(', ')}: ${rows[1]!.rate.toFixed(2)} (by CPU ${(1 / rows[1]!.ratio).toFixed(2)}, limit ${LIMIT})${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}

/** One request in flight: equal requests at the same time would share a response. */
async function measureCold(site: SiteServer, { name, page, all }: Read): Promise<boolean> {
  const times: Record<'page' | 'json', number[]> = { page: [], json: [] };
  const cost = async (paths: string[], headers: Record<string, string>) => {
    let [cpu, ms] = [0, 0];
    for (const path of paths) {
      const asked = await site.ask(path, headers);
      [cpu, ms] = [cpu + asked.cpu, ms + asked.ms];
    }
    return Math.min(cpu, ms);
  };
  for (let time = 0; time < COLD_TIMES; time++) {
    times.json.push(await cost(all, { accept: '*/*' }));
    times.page.push(await cost([page], {}));
  }
  const rate = median(times.json.map((json, time) => json / times.page[time]!));
  const isInside = rate >= LIMIT;
  process.stdout.write(`  ${`${name} without it`.padEnd(40)} JSON, ${all.length} reads ${median(times.json).toFixed(1)} ms, page ${median(times.page).toFixed(1)} ms: ${rate.toFixed(2)} (limit ${LIMIT})${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}

function figures({ name, perSecond, cpu }: Row): string {
  return `${name} ${Math.round(perSecond).toLocaleString('en-US')}/s (${(cpu / 1000).toFixed(2)} ms)`;
}
