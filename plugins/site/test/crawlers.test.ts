import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { costlyCache } from '../crawlers/cache.ts';
import { compressedSitemap, type Listed } from '../crawlers/sitemap.ts';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ORIGIN = 'https://civic.example';
const addressesIn = (text: string): string[] => [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address]) => address!);

for (const database of testDatabases()) {
  describe(`Files for crawlers on ${database}`, () => {
    let kit: SiteKit;
    let id: string;
    const clock = stoppedClock('2026-11-16T12:00:00.000Z');
    before(async () => {
      kit = await siteKit({ database, clock, config: { public_url: ORIGIN } });
      id = await kit.add({ name: 'Gladstone Tenants Union', place: 'gladstone,missouri', issue_area: 'housing_affordability' });
      await kit.addPrivate({ name: 'Secret', place: 'boise,idaho', website: 'https://secret.example' });
    });
    after(() => kit.close());

    it('are robots.txt, which leads to the sitemap', async () => {
      const { text, headers } = await kit.open('/robots.txt');
      expect(headers['content-type']).to.contain('text/plain');
      expect(text).to.contain(['Disallow: /search\n', 'Disallow: /en/search\n', 'Disallow: /es/search\n', 'Disallow: /desk\n', `Sitemap: ${ORIGIN}/sitemap.xml\n`]);
      // Many parsers know no wildcards, and those that do would also match other pages, such as /docs/accounts for /account.
      expect(text).to.not.contain('/*');
    });

    it('are sitemaps of pages, places and entries, without what is private', async () => {
      const index = await kit.open('/sitemap.xml');
      expect(index.headers['content-type']).to.contain('application/xml');
      const parts = addressesIn(index.text);
      expect(parts).to.equal(['pages', 'places-0', 'entries-0'].map((name) => `${ORIGIN}/sitemap/${name}.xml`));
      const [pages, places, entries] = await Promise.all(parts.map(async (url) => (await kit.open(new URL(url).pathname)).text));
      expect(addressesIn(pages!)).to.include(['/', '/about', '/map', '/issues', '/issues/housing_affordability', '/domains/housing-and-the-built-environment'].map((path) => ORIGIN + path));
      expect(addressesIn(places!)).to.equal([`${ORIGIN}/places/gladstone,missouri`]);
      expect(entries).to.contain(`<url><loc>${ORIGIN}/actors/${id}</loc><lastmod>2026-11-16</lastmod></url>`);
      expect(addressesIn(entries!)).to.have.length(1);
    });

    it('are compressed for clients that accept it', async () => {
      const { headers, text } = await kit.open('/sitemap/pages.xml');
      const plain = await kit.open('/sitemap/pages.xml', { 'accept-encoding': 'identity' });
      expect([headers['cache-control'], plain.headers['content-encoding']]).to.equal(['public, max-age=3600', undefined]);
      expect(plain.text).to.equal(text);
    });

    it('are written again after an hour', async () => {
      const other = await kit.add({ name: 'Gladstone Renters', place: 'gladstone,missouri', website: 'https://renters.example' });
      expect((await kit.open('/sitemap/entries-0.xml')).text).to.not.contain(other);
      clock.advance(3_600_000);
      expect((await kit.open('/sitemap/entries-0.xml')).text).to.contain([id, other]);
    });

    it('are not there for other names', async () => {
      for (const name of ['entries-1.xml', 'places-7.xml', 'entries-999999.xml', 'pages.txt', 'entries-x.xml', '..%2Fentries-0.xml']) expect((await kit.open(`/sitemap/${name}`)).status, name).to.equal(404);
    });

    it('have an icon', async () => {
      const { status, headers } = await kit.open('/favicon.ico');
      expect(status).to.equal(302);
      const icon = await kit.open(String(headers['location']));
      expect([icon.status, icon.headers['content-type']]).to.equal([200, 'image/svg+xml']);
    });
  });
}

describe('A sitemap', () => {
  it('is written while its addresses are read', async () => {
    async function* chunks(): AsyncIterable<Listed[]> {
      for (let at = 0; at < 50_000; at += 2000) yield Array.from({ length: 2000 }, (_, index) => ({ url: `https://civic.example/places/a&b,${at + index}`, changed: '2026-11-16T12:00:00Z' }));
    }
    const text = gunzipSync(await compressedSitemap(chunks())).toString();
    expect(addressesIn(text)).to.have.length(50_000);
    expect(text).to.contain('<loc>https://civic.example/places/a&amp;b,49999</loc><lastmod>2026-11-16</lastmod>');
  });

  it('is created once for many requests, one at a time, again after an error, and makes room', async () => {
    let [now, created, running, most] = [0, 0, 0, 0];
    const cache = costlyCache({ maxBytes: 25, maxAgeMs: 100, now: () => now });
    const create = async (): Promise<Buffer> => {
      created += 1;
      most = Math.max(most, ++running);
      await sleep(2);
      running -= 1;
      return Buffer.alloc(10);
    };
    await Promise.all(['a', 'a', 'b', 'b', 'a'].map((name) => cache.get(name, create)));
    expect([created, most]).to.equal([2, 1]);
    now = 100;
    await cache.get('a', create);
    expect(created).to.equal(3);
    await cache.get('c', create);
    await cache.get('b', create);
    expect(created, 'b had to make room').to.equal(5);
    await expect(cache.get('d', async () => { throw new Error('no'); })).to.reject('no');
    await cache.get('d', create);
    expect(created).to.equal(6);
  });
});
