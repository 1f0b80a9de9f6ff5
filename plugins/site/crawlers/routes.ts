import type { Request, ResponseObject, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi';
import { Joi, LANGUAGES, problem, type Civic } from 'civic';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Site } from '../site.ts';
import { costlyCache } from './cache.ts';
import { compressed, compressedSitemap, listedAt, sitemapIndex, type Listed } from './sitemap.ts';

const OWN_FILES = new Set(['/robots.txt', '/sitemap.xml', '/sitemap']);
const HOUR_MS = 3_600_000;
const MAX_BYTES = 32_000_000;
const FRESH = 'public, max-age=3600';

/** Returns the routes of `/robots.txt`, of `/sitemap.xml` and of the sitemaps that it lists. */
export function crawlerRoutes(server: Server, site: Site): ServerRoute[] {
  const { civic, directory } = site;
  const cache = costlyCache({ maxBytes: MAX_BYTES, maxAgeMs: HOUR_MS, now: () => civic.clock.now() });
  const internal = { plugins: { civic: { internal: true } } };

  // A declared path such as `/actors` has pages below it, but is no page itself.
  const isPage = (path: string): boolean => server.match('get', path)?.path === path;

  async function* pages(): AsyncIterable<Listed[]> {
    const domains = await directory.taxonomy();
    const topics = domains.flatMap(({ slug, issue_areas }) => [`/domains/${slug}`, ...issue_areas.map((issue) => `/issues/${issue.slug}`)]);
    yield [...pathsOf(civic, true).filter(isPage), ...topics].map((path) => ({ url: civic.url(path) }));
  }

  async function index(): Promise<string> {
    const { actors, places } = await directory.addressParts();
    const names = ['pages', ...Array.from({ length: places }, (_, part) => `places-${part}`), ...actors.map((part) => `entries-${part}`)];
    return sitemapIndex(names.map((name) => civic.url(`/sitemap/${name}.xml`)));
  }

  /** Returns the addresses of a sitemap. Throws when there is no such sitemap, so that the cache stores nothing for it. */
  async function partOf(kind: string, part: number): Promise<AsyncIterable<Listed[]>> {
    if (kind === 'pages') return pages();
    const { actors, places } = await directory.addressParts();
    if (kind === 'entries' && actors.includes(part)) return listedAt(directory.actorAddresses(part), (id) => civic.url(`/actors/${id}`));
    if (kind === 'places' && part < places) return listedAt(directory.placeAddresses(part), (key) => civic.url(`/places/${key}`));
    throw problem('not_found');
  }

  return [
    { method: 'GET', path: '/robots.txt', options: internal, handler: (_request, h) => h.response(robots(civic)).type('text/plain').header('cache-control', FRESH) },
    { method: 'GET', path: '/sitemap.xml', options: internal, handler: async (request, h) => xml(request, h, await cache.get('index', async () => compressed(await index()))) },
    {
      method: 'GET', path: '/sitemap/{name}', options: { ...internal, validate: { params: Joi.object({ name: Joi.string().max(40) }) } },
      async handler(request, h) {
        const [, kind, part = '0'] = /^(pages|places|entries)(?:-(\d{1,6}))?\.xml$/.exec(String(request.params.name)) ?? [];
        if (kind === undefined) throw problem('not_found');
        return xml(request, h, await cache.get(`${kind}-${Number(part)}`, async () => compressedSitemap(await partOf(kind, Number(part)))));
      },
    },
  ];
}

/** Returns the declared paths of pages that crawlers should read, or of those that they should not. */
function pathsOf({ vocabulary }: Pick<Civic, 'vocabulary'>, forCrawlers: boolean): string[] {
  return [...vocabulary.paths].filter(([, { audience, crawlers = true }]) => audience === 'people' && crawlers === forCrawlers).map(([path]) => path);
}

function robots({ url, vocabulary }: Pick<Civic, 'url' | 'vocabulary'>): string {
  const rules = pathsOf({ vocabulary }, false).filter((path) => !OWN_FILES.has(path)).flatMap((path) => [path, ...LANGUAGES.map((language) => `/${language}${path}`)]).map((path) => `Disallow: ${new URL(url(path)).pathname}`);
  return ['User-agent: *', ...rules, '', `Sitemap: ${url('/sitemap.xml')}`, ''].join('\n');
}

function xml(request: Request, h: ResponseToolkit, gzip: Buffer): ResponseObject {
  const isPlain = request.info.acceptEncoding !== 'gzip';
  const response = h.response(isPlain ? Readable.from([gzip]).pipe(createGunzip()) : gzip).type('application/xml').header('cache-control', FRESH);
  return isPlain ? response : response.header('content-encoding', 'gzip').vary('accept-encoding');
}
