import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { pruneHosts } from '../fetch/hosts-store.ts';
import type { ReadService } from '../fetch/types.ts';
import { openSite, text, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const BOMB = gzipSync(Buffer.alloc(50_000_000));

for (const database of testDatabases()) {
  describe(`reads on ${database}`, { timeout: 60_000 }, () => {
    let kit: TestServer;
    let reads: ReadService;
    let site: Site;

    const user = definePlugin({ name: 'listener', summary: 'Reads addresses for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { reads = civic.service('reader'); } }) });
    const read = (path: string) => reads.read({ url: site.url + path, purpose: 'test' });
    const paths = () => site.requests.map(({ path }) => path);

    before(async () => {
      kit = await testServer({
        database, plugins: ['reader', user],
        config: { http: { fetch: { allow_private_addresses: true } }, plugins: { reader: { delay_seconds: 0.1, longest_wait_seconds: 2, timeout_seconds: 2, max_bytes: 100_000 } } },
      });
    });
    after(() => kit.close());
    beforeEach(async () => {
      await site?.close();
      site = await openSite();
    });

    it('archives what it reads once, and records each attempt', async () => {
      site.routes['/page'] = text('<p>Hello</p>');
      const first = await read('/page#top');
      expect(first).to.include({ outcome: 'read', status: 200, reason: null, url: `${site.url}/page`, final_url: `${site.url}/page`, bytes: 12, via: 'http' });
      expect(new TextDecoder().decode(first.content!.body)).to.equal('<p>Hello</p>');
      const second = await read('/page');
      expect(second).to.include({ outcome: 'unchanged', status: 200 });
      expect(second.content!.hash).to.equal(first.content!.hash);
      expect(new TextDecoder().decode((await reads.content(kit.db.read, first.content!.hash))!.body)).to.equal('<p>Hello</p>');
      const rows = await kit.db.read('reader_fetches').where('url', `${site.url}/page`).orderBy('key').select('outcome', 'status', 'bytes', 'purpose', 'content_hash');
      expect(rows).to.equal([first, second].map(({ outcome }) => ({ outcome, status: 200, bytes: 12, purpose: 'test', content_hash: first.content!.hash })));
      expect(await kit.db.read('reader_contents').where({ hash: first.content!.hash })).to.have.length(1);
    });

    it('asks whether a page changed, and returns the archived one when it did not', async () => {
      site.routes['/tagged'] = (request, response) => {
        if (request.headers['if-none-match'] === '"a"' && request.headers['if-modified-since'] === 'Mon, 02 Feb 2026 00:00:00 GMT') return void response.writeHead(304).end();
        text('<p>Tagged</p>', { 'etag': '"a"', 'last-modified': 'Mon, 02 Feb 2026 00:00:00 GMT' })(request, response);
      };
      await read('/tagged');
      const again = await read('/tagged');
      expect(again).to.include({ outcome: 'unchanged', status: 304, bytes: 0 });
      expect(new TextDecoder().decode(again.content!.body)).to.equal('<p>Tagged</p>');
      await kit.db.write((tx) => tx('reader_contents').where({ hash: again.content!.hash }).delete());
      expect(await read('/tagged')).to.include({ outcome: 'read', status: 200 });
    });

    it('obeys robots.txt for each address of a chain of redirects', async () => {
      site.routes['/robots.txt'] = text('User-agent: *\nAllow: /\n\nUser-agent: civic\nDisallow: /private\n');
      site.routes['/to-private'] = (_request, response) => { response.writeHead(302, { location: '/private/page' }).end(); };
      site.routes['/private/page'] = text('secret');
      const direct = await read('/private/page');
      expect(direct).to.include({ outcome: 'refused', reason: 'robots', status: null, content: null });
      expect(direct.detail).to.equal(`The robots.txt of ${new URL(site.url).host} does not allow programs to read /private/page. Ask its owner, or choose another page.`);
      expect(await read('/to-private')).to.include({ outcome: 'refused', reason: 'robots' });
      expect(paths()).to.equal(['/robots.txt', '/to-private']);
    });

    it('requests no address again for interrupted work, neither a page nor a failure', async () => {
      const since = new Date().toISOString();
      site.routes['/kept'] = text('<p>Kept</p>');
      site.routes['/broken'] = (_request, response) => { response.writeHead(500).end(); };
      for (const path of ['/kept', '/broken']) await read(path);
      const requested = paths().length;
      const again = (path: string) => reads.read({ url: `${site.url}${path}`, purpose: 'test', since });
      expect(await again('/kept')).to.include({ outcome: 'unchanged' });
      expect(await again('/broken')).to.include({ outcome: 'failed', reason: 'http_status', status: 500, content: null });
      expect(paths().length).to.equal(requested);
      expect(await read('/broken')).to.include({ outcome: 'failed' });
      expect(paths().length).to.equal(requested + 1);
      // Older content is enough for work that begins later, an older failure is not.
      const later = (path: string) => reads.read({ url: `${site.url}${path}`, purpose: 'test', since: new Date(Date.now() + 1000).toISOString(), content_since: since });
      expect(await later('/kept')).to.include({ outcome: 'unchanged' });
      expect(paths().length).to.equal(requested + 1);
      expect(await later('/broken')).to.include({ outcome: 'failed' });
      expect(paths().length).to.equal(requested + 2);
    });

    it('obeys the robots.txt of the host that a redirect leads to', async () => {
      const other = await openSite();
      try {
        other.routes['/robots.txt'] = text('User-agent: *\nDisallow: /');
        site.routes['/away'] = (_request, response) => { response.writeHead(301, { location: `${other.url}/there` }).end(); };
        expect(await read('/away')).to.include({ outcome: 'refused', reason: 'robots' });
        expect(other.requests.map(({ path }) => path)).to.equal(['/robots.txt']);
      } finally {
        await other.close();
      }
    });

    it('reads nothing of a host whose robots.txt fails, and all of one that has none', async () => {
      site.routes['/page'] = text('here');
      expect(await read('/page')).to.include({ outcome: 'read' });
      const broken = await openSite();
      try {
        broken.routes['/robots.txt'] = (_request, response) => { response.writeHead(500).end(); };
        broken.routes['/page'] = text('here');
        const refused = await reads.read({ url: `${broken.url}/page`, purpose: 'test' });
        expect(refused).to.include({ outcome: 'refused', reason: 'robots_unreachable' });
        expect(refused.retry_at).to.be.a.string();
        expect(broken.requests.map(({ path }) => path)).to.equal(['/robots.txt']);
      } finally {
        await broken.close();
      }
    });

    it('states that a host cannot be reached, not that its robots.txt fails', async () => {
      const gone = await openSite();
      await gone.close();
      for (const path of ['/page', '/other']) expect(await reads.read({ url: `${gone.url}${path}`, purpose: 'test' })).to.include({ outcome: 'failed', reason: 'unreachable' });
    });

    it('keeps the delay of a host, and has one request under way at a time', async () => {
      let open = 0;
      let most = 0;
      for (const path of ['/1', '/2', '/3', '/4']) {
        site.routes[path] = (request, response) => {
          most = Math.max(most, ++open);
          setTimeout(() => { open--; text(path)(request, response); }, 150);
        };
      }
      const results = await Promise.all(['/1', '/2', '/3', '/4'].map(read));
      expect(results.map(({ outcome }) => outcome)).to.equal(['read', 'read', 'read', 'read']);
      expect(most).to.equal(1);
      const times = site.requests.filter(({ path }) => path !== '/robots.txt').map(({ at }) => at).toSorted((a, b) => a - b);
      for (let index = 1; index < times.length; index++) expect(times[index]! - times[index - 1]!).to.be.above(95);
    });

    it('keeps the Crawl-delay of a robots.txt', async () => {
      site.routes['/robots.txt'] = text('User-agent: *\nCrawl-delay: 0.6');
      for (const path of ['/1', '/2']) site.routes[path] = text(path);
      await read('/1');
      await read('/2');
      const [first, second] = site.requests.slice(1).map(({ at }) => at);
      // The first request may arrive late; without the delay of robots.txt the second comes after 100 ms.
      expect(second! - first!).to.be.above(400);
    });

    it('puts off what would wait too long', async () => {
      site.routes['/robots.txt'] = text('User-agent: *\nCrawl-delay: 20');
      for (const path of ['/1', '/2']) site.routes[path] = text(path);
      await read('/1');
      const late = await read('/2');
      expect(late).to.include({ outcome: 'put_off', reason: 'host_busy', status: null });
      expect(Date.parse(late.retry_at!)).to.be.above(Date.now() + 10_000);
      expect(paths()).to.equal(['/robots.txt', '/1']);
    });

    it('gives a host the pause it asks for', async () => {
      site.routes['/busy'] = (_request, response) => { response.writeHead(429, { 'retry-after': '120' }).end(); };
      site.routes['/page'] = text('here');
      expect(await read('/busy')).to.include({ outcome: 'failed', reason: 'http_status', status: 429 });
      const later = await read('/page');
      expect(later).to.include({ outcome: 'put_off', reason: 'host_rests' });
      expect(Date.parse(later.retry_at!) - Date.now()).to.be.between(100_000, 121_000);
      expect(paths()).to.equal(['/robots.txt', '/busy']);
    });

    it('ends hostile responses within its limits', async () => {
      site.routes['/bomb'] = (_request, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB); };
      site.routes['/endless'] = (_request, response) => { const more = () => { while (!response.destroyed && response.write(Buffer.alloc(10_000))); }; response.on('drain', more); more(); };
      site.routes['/drip'] = (_request, response) => { const timer = setInterval(() => response.write('.'), 50); response.on('close', () => clearInterval(timer)); };
      site.routes['/loop'] = (_request, response) => { response.writeHead(302, { location: '/loop' }).end(); };
      site.routes['/header'] = (_request, response) => { response.writeHead(200, { 'x-long': 'a'.repeat(100_000) }).end(); };
      const startedAt = performance.now();
      const memory = process.memoryUsage().arrayBuffers;
      for (const [path, reason] of [['/bomb', 'too_large'], ['/endless', 'too_large'], ['/drip', 'too_slow'], ['/loop', 'too_many_redirects'], ['/header', 'bad_response']] as const) {
        expect(await read(path)).to.include({ outcome: 'failed', reason, content: null });
      }
      expect(performance.now() - startedAt).to.be.below(10_000);
      expect(process.memoryUsage().arrayBuffers - memory).to.be.below(20_000_000);
    });

    it('gives a place back that is granted after its read was aborted', async () => {
      let finish = () => {};
      site.routes['/slow'] = (request, response) => { finish = () => text('slow')(request, response); };
      site.routes['/page'] = text('here');
      const first = read('/slow');
      while (!paths().includes('/slow')) await sleep(10);
      const stop = new AbortController();
      const second = reads.read({ url: `${site.url}/page`, purpose: 'test', signal: stop.signal });
      setTimeout(() => stop.abort(new Error('enough')), 100);
      await expect(second).to.reject(Error);
      finish();
      expect(await first).to.include({ outcome: 'read' });
      expect(await read('/page')).to.include({ outcome: 'read' });
    });

    it('shares one request for robots.txt, which an aborted read does not end for the others', async () => {
      let respond = () => {};
      site.routes['/robots.txt'] = (request, response) => { respond = () => text('User-agent: *\nDisallow: /private')(request, response); };
      site.routes['/page'] = text('here');
      const stop = new AbortController();
      const first = reads.read({ url: `${site.url}/page`, purpose: 'test', signal: stop.signal });
      while (!paths().includes('/robots.txt')) await sleep(10);
      const second = read('/page');
      await sleep(100);
      stop.abort(new Error('enough'));
      await expect(first).to.reject(Error, 'enough');
      respond();
      expect(await second).to.include({ outcome: 'read' });
      expect(paths()).to.equal(['/robots.txt', '/page']);
    });

    it('forgets hosts that were not requested for a time', async () => {
      site.routes['/page'] = text('here');
      await read('/page');
      const row = await kit.db.read('reader_hosts').where({ origin: site.url }).first('*');
      await kit.db.write((tx) => tx('reader_hosts').insert({ ...row, origin: 'https://old.example', robots_at: '2020-01-01T00:00:00.000Z', next_at: '2020-01-01T00:00:00.000Z' }));
      expect(await kit.db.write((tx) => pruneHosts(tx, '2021-01-01T00:00:00.000Z'))).to.equal(1);
      expect(await kit.db.read('reader_hosts').where({ origin: site.url })).to.have.length(1);
    });

    it('throws only when it is aborted, also while it waits for its turn', async () => {
      site.routes['/robots.txt'] = text('User-agent: *\nCrawl-delay: 1.5');
      for (const path of ['/1', '/2']) site.routes[path] = text(path);
      await read('/1');
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('enough')), 50);
      await expect(reads.read({ url: `${site.url}/2`, purpose: 'test', signal: stop.signal })).to.reject(Error);
      expect(await reads.read({ url: 'not an address', purpose: 'test' })).to.include({ outcome: 'refused', reason: 'bad_url' });
    });
  });
}
