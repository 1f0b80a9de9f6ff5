import { setTimeout as sleep } from 'node:timers/promises';
import type { SiteBench } from './run.ts';
import { startSite, type Asked, type SiteServer } from './server.ts';
import { siteSubjects } from './subjects.ts';

const LIMITS = { warm: 30, cold: 60 };
const COUNT = 500;
const HOMES = 150;
const SIGNALS = 2000;
const AT_ONCE = 100;
const WARM_UP = 30;
/** On a shared machine, a single request is often interrupted: each page is read several times, and its quietest time counts. */
const ROUNDS = 3;
/** After a change the events of it are delivered: what they cost is no part of the next page. */
const SETTLED_MS = 200;

/** How long a page takes with one request in flight: read and rendered, and from the response cache. The process is warm. */
export async function benchPages({ database, actors }: SiteBench): Promise<boolean> {
  const subjects = await siteSubjects(database, actors, COUNT);
  const site = await startSite(database.folder);
  try {
    await publishSome(site, subjects.places);
    const paths = {
      place: subjects.places.map((key) => `/places/${key}`), actor: subjects.actors.map((id) => `/actors/${id}`), search: subjects.searches.map((query) => `/search?${query}`),
    };
    process.stdout.write(`\nPages of ${actors.toLocaleString('en-US')} actors, one request in flight; ms by CPU of the server and by the clock (limits of p99 by the clock: ${LIMITS.cold} cold, ${LIMITS.warm} warm). The quietest of ${ROUNDS} rounds of each page, and every request\n`);
    // The first ones compile templates and statements.
    for (const all of Object.values(paths)) for (const path of all.slice(-WARM_UP)) await site.ask(`${path}${path.includes('?') ? '&' : '?'}unknown=1`);
    let isInside = await measureHome(site, subjects.places);
    for (const [name, all] of Object.entries(paths)) {
      const cold: Measured[] = [];
      const warm: Measured[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await invalidatePages(site, subjects.places[0]!);
        for (const path of all) {
          cold.push({ path, ...await site.ask(path) });
          warm.push({ path, ...await site.ask(path) });
        }
      }
      isInside = report(`${name}, cold`, cold, LIMITS.cold) && isInside;
      isInside = report(`${name}, warm`, warm, LIMITS.warm) && isInside;
    }
    return isInside;
  } finally {
    await site.stop();
  }
}

/** A public change removes all pages from the response cache. */
async function invalidatePages(site: SiteServer, place: string): Promise<void> {
  const id = await site.addActor(place);
  await settled(() => site.deleteActor(id));
}

interface Measured extends Asked {
  path: string;
}

/** The home page is one: it is read anew after a signal was published, and after an actor was changed, which is more to count. */
async function measureHome(site: SiteServer, places: string[]): Promise<boolean> {
  const measured: Record<'home after a signal' | 'home after a change' | 'home, warm', Measured[]> = { 'home after a signal': [], 'home after a change': [], 'home, warm': [] };
  const ask = async () => ({ path: '/', ...await site.ask('/') });
  for (let time = 0; time < WARM_UP + HOMES; time++) {
    const place = places[time % places.length]!;
    await settled(() => site.publish([place]));
    const afterSignal = await ask();
    const id = await settled(() => site.addActor(place));
    const afterChange = await ask();
    const warm = await ask();
    await site.deleteActor(id);
    if (time < WARM_UP) continue;
    measured['home after a signal'].push(afterSignal);
    measured['home after a change'].push(afterChange);
    measured['home, warm'].push(warm);
  }
  return Object.entries(measured).map(([name, all]) => report(name, all, name.endsWith('warm') ? LIMITS.warm : LIMITS.cold)).every(Boolean);
}

async function settled<T>(change: () => Promise<T>): Promise<T> {
  const result = await change();
  await sleep(SETTLED_MS);
  return result;
}

/** So that pages of places have signals to show. */
async function publishSome(site: SiteServer, places: string[]): Promise<void> {
  const { body } = await site.ask('/api/firehose?visibility=public&limit=1', { accept: 'application/json', 'accept-encoding': 'identity' });
  if ((JSON.parse(body.toString()) as { signals: unknown[] }).signals.length > 0) return;
  for (let sent = 0; sent < SIGNALS; sent += AT_ONCE) await site.publish(Array.from({ length: AT_ONCE }, (_, index) => places[(sent + index) % places.length]!));
}

function report(name: string, measured: Measured[], limit: number): boolean {
  // CPU also counts threads that run beside the request, and on a busy machine the clock also measures the work of others: judge on a quiet one.
  const quietest = quietestOf(measured);
  const p99 = quantile(quietest.map(({ ms }) => ms), 0.99);
  const slowest = quietest.reduce((a, b) => (a.cpu > b.cpu ? a : b));
  const isKept = p99 <= limit;
  process.stdout.write(`  ${name.padEnd(20)} ${String(quietest.length).padStart(4)}  CPU ${figures(quietest.map(({ cpu }) => cpu))}  clock ${figures(quietest.map(({ ms }) => ms))}  every request ${figures(measured.map(({ ms }) => ms))}  slowest ${slowest.cpu.toFixed(1)} ${decodeURIComponent(slowest.path).slice(0, 60)}${isKept ? '' : '  MISSED'}\n`);
  return isKept;
}

/** Returns the fastest request of each page; of the home page, the fastest of each few successive ones. */
function quietestOf(measured: Measured[]): Measured[] {
  const byPage = new Map<string, Measured>();
  for (const [index, one] of measured.entries()) {
    const page = one.path === '/' ? String(Math.floor(index / ROUNDS)) : one.path;
    const best = byPage.get(page) ?? one;
    byPage.set(page, { ...one, cpu: Math.min(one.cpu, best.cpu), ms: Math.min(one.ms, best.ms) });
  }
  return [...byPage.values()];
}

function figures(values: number[]): string {
  return [0.5, 0.99].map((share) => `p${share * 100} ${quantile(values, share).toFixed(1).padStart(5)}`).join(' ');
}

function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1]!;
}
