import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, newId, type Caller, type Fetch } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { searchCheck } from '../search/check.ts';
import { brave, searxng } from '../search/engines.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const page = (title: string, body: string, head = '') => `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><main>${body}</main></body></html>`;
const staff = (union: string, name: string) => page(`Our staff | ${union}`, `<h1>Our staff</h1><p>${union} works for tenants and renters of Gladstone.</p><ul class="staff"><li><h3>${name}</h3><p>Executive Director</p></li><li><h3>Susan Whitfield</h3><p>Board President</p></li></ul>`);

for (const database of testDatabases()) {
  describe(`sources of discovery runs on ${database}`, { timeout: 120_000 }, () => {
    let kit: TestServer;
    let web: Server;
    let origin: string;
    let other: string;
    let searchStatus = 200;
    const requests: string[] = [];
    const callerOf = (): Partial<Caller> => ({ account_id: newId(), workspace_id: newId(), workspace_role: 'owner', scope: ['discovery:read', 'discovery:write'], capabilities: ['discovery'], plan: 'individual' });
    const [ours, theirs] = [callerOf(), callerOf()];
    const call = (method: string, path: string, payload?: unknown, as = ours) => kit.request(method, path, { as, ...(payload !== undefined && { payload }) });

    async function completed(given: object, as = ours) {
      const { body } = await call('POST', '/api/discovery-runs', { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], ...given }, as);
      for (let waited = 0; waited < 600; waited++) {
        const run = (await call('GET', `/api/discovery-runs/${body.id}`, undefined, as)).body;
        if (run.status === 'completed') return { run, sources: (await call('GET', `/api/discovery-runs/${body.id}/sources?limit=100`, undefined, as)).body.data as { url: string; title: string | null; state: string; issue_areas: string[] }[] };
        await sleep(50);
      }
      throw new Error('The run did not end');
    }

    before(async () => {
      web = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url!, 'http://site.example');
        requests.push(request.url!);
        if (pathname === '/searx/search') {
          const results = searchParams.get('format') === 'json' && searchParams.get('q')!.startsWith('Housing') ? [{ url: `${other}/searched/staff`, title: 'Found' }, { url: 'ftp://nowhere.example/' }, { url: `${other}/private/staff` }] : [];
          return response.writeHead(searchStatus, { 'content-type': 'application/json' }).end(searchStatus === 200 ? JSON.stringify({ results }) : 'no');
        }
        const pages: Record<string, string> = {
          '/robots.txt': 'User-agent: *\nDisallow: /private',
          '/': page('Site', '<p>News of Gladstone.</p>', '<link rel="alternate" type="application/rss+xml" title="News" href="/feed/"><link rel="alternate" type="application/rss+xml" title="Comments" href="/comments/feed/">'),
          '/feed/': `<rss version="2.0"><channel><title>News</title><link>${origin}</link><item><title>New &amp; fair rents</title><link>${origin}/news/rents</link></item><item><title>A note &amp;amp; more</title><link>${origin}/news/note</link></item><item><title>Sign in</title><link>${origin}/login</link></item></channel></rss>`,
          '/news/rents': staff('Feedwater Tenants Union', 'Thomas Okafor'),
          '/news/note': '<p>Renters of Gladstone meet.</p>',
          '/own/staff': staff('Ownhouse Tenants Union', 'Maria Delgado'),
          '/searched/staff': staff('Searchlight Tenants Union', 'Helen Brightwater'),
          '/members': page('Members', '<form>Sign in<input type="password" name="p"></form>'),
        };
        const body = pages[pathname];
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': pathname === '/feed/' ? 'application/rss+xml' : pathname === '/robots.txt' ? 'text/plain' : 'text/html' }).end(body);
      });
      await new Promise<void>((done) => { web.listen(0, '127.0.0.1', done); });
      const { port } = web.address() as AddressInfo;
      origin = `http://127.0.0.1:${port}`;
      other = `http://localhost:${port}`;
      kit = await testServer({ database, plugins: ['directory', 'reader', 'accounts', 'discovery'], config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false }, discovery: { search: { searxng_url: `${origin}/searx` } } } } });
    });
    after(async () => {
      await kit.close();
      web.closeAllConnections();
      await new Promise((done) => { web.close(done); });
    });

    it('are found by searches for the words of the issue areas, within the rules of each host', async () => {
      const { run, sources } = await completed({ seeds: [`${origin}/members`] });
      expect(run.counts.queries).to.equal(12);
      const asked = requests.filter((url) => url.startsWith('/searx/')).map((url) => new URL(url, origin).searchParams.get('q')!);
      expect(asked.length).to.equal(12);
      expect(asked[0]).to.equal('Housing Affordability Gladstone Missouri');
      expect(sources.find(({ url }) => url === `${other}/searched/staff`)).to.include({ state: 'read', issue_areas: ['housing_affordability'] });
      expect(requests).to.not.include('/private/staff');
      expect(run.gaps.map(({ type, subject, count }: { type: string; subject: string; count: number }) => [type, subject, count])).to.equal([['login_wall', new URL(origin).host, 1], ['robots', new URL(other).host, 1]]);
    });

    it('include the entries of the feeds of seeds, with their titles', async () => {
      const { sources } = await completed({ seeds: [`${origin}/`] });
      expect(sources.map(({ url }) => url)).to.include([`${origin}/feed/`, `${origin}/news/rents`]);
      expect(sources.find(({ url }) => url === `${origin}/news/note`)).to.include({ state: 'read', title: 'A note & more' });
      expect(sources.map(({ url }) => url)).to.not.include([`${origin}/comments/feed/`, `${origin}/login`]);
    });

    it('include pages that were read for the workspace before, without a request, and none that were read for another', async () => {
      await completed({ seeds: [`${origin}/own/staff`] });
      const before = requests.filter((url) => url === '/own/staff').length;
      const again = await completed({});
      expect(again.sources.find(({ url }) => url === `${origin}/own/staff`)).to.include({ state: 'read', title: 'Our staff | Ownhouse Tenants Union' });
      expect(requests.filter((url) => url === '/own/staff').length).to.equal(before);
      const { sources } = await completed({}, theirs);
      expect(sources.map(({ url }) => url)).to.include(`${other}/searched/staff`);
      expect(sources.map(({ url }) => url)).to.not.include(`${origin}/own/staff`);
    });

    it('lack a search engine that fails, and the run states it', async () => {
      for (const status of [403, 429]) {
        searchStatus = status;
        const asked = requests.length;
        const { run } = await completed({});
        expect(run.status).to.equal('completed');
        expect(requests.slice(asked).filter((url) => url.startsWith('/searx/')).length).to.equal(1);
        expect(run.gaps.find(({ type }: { type: string }) => type === 'search_engine')).to.include({ subject: 'searxng' });
      }
      searchStatus = 200;
    });

    it('report a run that knew no page, and issue areas without one', async () => {
      searchStatus = 500;
      const nothing = await completed({}, callerOf());
      expect(nothing.run.gaps.map(({ type }: { type: string }) => type)).to.equal(['no_pages']);
      const { run } = await completed({ seeds: [`${origin}/own/staff`], issue_areas: ['housing_affordability', 'student_debt_and_college_affordability'] });
      expect(run.gaps.filter(({ type }: { type: string }) => type === 'issue_area').map(({ subject }: { subject: string }) => subject)).to.equal(['student_debt_and_college_affordability']);
      searchStatus = 200;
    });
  });
}

describe('the check of search engines', () => {
  async function check(status: number, body: string, engineOf = searxng) {
    let fetch: Fetch;
    const user = definePlugin({ name: 'listener', summary: 'Fetches for tests', register: (_server, civic) => { fetch = civic.fetch; } });
    const server = createServer((_request, response) => { response.writeHead(status).end(body); });
    await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
    const kit = await testServer({ plugins: [user], open: false, config: { http: { fetch: { allow_private_addresses: true } } } });
    try {
      return await searchCheck({ engines: [engineOf(fetch!, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)] }).run();
    } finally {
      await kit.close();
      server.close();
    }
  }

  it('explains with the exact lines why SearXNG refuses', async () => {
    const forbidden = await check(403, '');
    expect([forbidden.status, forbidden.detail]).to.equal(['warning', 'SearXNG responded with the status 403: it does not return JSON.']);
    expect(forbidden.fix).to.contain('search:\n      formats:\n        - html\n        - json');
    const limited = await check(429, 'Too Many Requests');
    expect(limited.detail).to.equal('SearXNG responded with the status 429: its limiter takes this server for a bot.');
    expect(limited.fix).to.contain(['server:\n      limiter: false', '[botdetection.ip_lists]']);
    expect((await check(200, '<html>')).detail).to.contain('something else than results in JSON');
    expect(await check(200, '{"results":[]}')).to.equal({ status: 'ok', detail: 'searxng: results' });
  });

  it('checks the key of Brave Search', async () => {
    const withBrave = (fetch: Fetch, address: string) => brave(fetch, 'secret', address);
    expect((await check(401, '', withBrave)).fix).to.equal('check plugins.discovery.search.brave_key');
    expect((await check(200, '{"web":{"results":[{"url":"https://a.example/"}]}}', withBrave)).status).to.equal('ok');
  });
});
