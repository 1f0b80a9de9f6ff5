import { gunzipSync } from 'node:zlib';
import type { SiteBench } from './run.ts';
import { startSite, type SiteServer } from './server.ts';
import { siteSubjects } from './subjects.ts';

const LIMITS = { page: 60_000, scripts: 30_000 };

/** What a browser without a cache loads for a page, compressed: the page, its style sheets, scripts and images. */
export async function benchSizes({ database, actors }: SiteBench): Promise<boolean> {
  const { places: [largest], actors: [actor], source } = await siteSubjects(database, actors, 500);
  const site = await startSite(database.folder);
  const place = `/places/${largest}`;
  const state = largest!.split(',')[1]!;
  try {
    process.stdout.write(`\nCompressed bytes of pages with all that they load (limits: ${LIMITS.page.toLocaleString('en-US')}, of which scripts ${LIMITS.scripts.toLocaleString('en-US')})\n`);
    let isInside = true;
    const paths = [
      '/', '/es/', '/search?query=community', '/search', '/places', place, `/es${place}`, `${place}/entries`, `${place}/sources`, `${place}/sheet`, `/places/${state}`, '/issues', '/issues/housing_affordability',
      '/domains/economic-security', '/map', `/map/${state}`, `/actors/${actor}`, `/actors/${actor}/history`, `/sources/${source}`, '/signals', '/about',
    ];
    for (const path of paths) isInside = await measure(site, path) && isInside;
    return isInside;
  } finally {
    await site.stop();
  }
}

async function measure(site: SiteServer, path: string): Promise<boolean> {
  const page = await site.ask(path);
  const html = textOf(page);
  const assets = [...html.matchAll(/<(?:script|img)[^>]+src="([^"]+)"|<link[^>]+rel="(?:stylesheet|icon|preload|modulepreload)"[^>]*href="([^"]+)"/g)].map((found) => found[1] ?? found[2]!);
  let [styles, scripts] = [0, 0];
  const loaded = new Set<string>();
  for (const queue = assets.filter((address) => address.startsWith('/')); queue.length > 0;) {
    const address = queue.pop()!;
    if (loaded.has(address)) continue;
    loaded.add(address);
    const asset = await site.ask(address, { accept: '*/*' });
    if (/\.m?js\b/.test(address)) {
      scripts += asset.bytes;
      for (const [, other] of textOf(asset).matchAll(/(?:import|from)\s*\(?['"](\.[^'"]+)['"]/g)) queue.push(new URL(other!, `http://site${address}`).pathname);
    } else styles += asset.bytes;
  }
  const total = page.bytes + styles + scripts;
  const isInside = total <= LIMITS.page && scripts <= LIMITS.scripts;
  process.stdout.write(`  ${path.slice(0, 50).padEnd(50)} ${kilobytes(total)}: page ${kilobytes(page.bytes)}, styles and images ${kilobytes(styles)}, scripts ${kilobytes(scripts)}${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}

function textOf({ body, isGzip }: { body: Buffer; isGzip: boolean }): string {
  return (isGzip ? gunzipSync(body) : body).toString();
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(5)} kB`;
}
