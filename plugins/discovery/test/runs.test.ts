import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId, type Caller } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const page = (title: string, body: string) => `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main>${body}</main></body></html>`;
const STAFF = page('Our staff | Riverbend Tenants Union', `<h1>Our staff</h1><p>The Riverbend Tenants Union works for renters in Gladstone.</p>
  <ul class="staff"><li><h3>Maria Delgado</h3><p>Executive Director</p><a href="mailto:maria@riverbend.example">maria@riverbend.example</a></li><li><h3>Thomas Okafor</h3><p>Lead Organizer</p></li><li><h3>Susan Whitfield</h3><p>Board President</p></li></ul>`);

for (const database of testDatabases()) {
  describe(`discovery runs on ${database}`, { timeout: 120_000 }, () => {
    let kit: TestServer;
    let web: Server;
    let origin: string;
    let isHeld = false;
    const requests: string[] = [];
    const caller: Partial<Caller> = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner', scope: ['discovery:read', 'discovery:write'], capabilities: ['discovery'], plan: 'individual' };
    const call = (method: string, path: string, payload?: unknown, as: object = caller) => kit.request(method, path, { as: as as never, ...(payload !== undefined && { payload }) });
    const start = (more: object = {}) => call('POST', '/api/discovery-runs', { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], seeds: [`${origin}/`], ...more });
    async function ended(id: string) {
      for (let waited = 0; waited < 600; waited++) {
        const { body } = await call('GET', `/api/discovery-runs/${id}`);
        if (body.status === 'completed' || body.status === 'failed') return body;
        await sleep(50);
      }
      throw new Error('The run did not end');
    }

    before(async () => {
      web = createServer(async (request, response) => {
        requests.push(request.url!);
        const pages: Record<string, string> = {
          '/robots.txt': 'User-agent: *\nDisallow: /private',
          '/sitemap.xml': `<urlset><url><loc>${origin}/about/staff</loc></url><url><loc>https://elsewhere.example/staff</loc></url></urlset>`,
          '/': page('Riverbend Tenants Union', '<p>Welcome to the Riverbend Tenants Union.</p><a href="/private/members">Members</a> <a href="/members/login">Log in</a> <a href="/about/staff">Staff</a> <a href="/loop/board">Board</a> <a href="http://127.0.0.2:1/staff">Partners</a>'),
          '/about/staff': STAFF,
          '/loop/board': page('Board', '<a href="board/board/board/board">Board</a>'),
        };
        while (isHeld && request.url === '/slow') await sleep(20);
        const body = pages[request.url!];
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': request.url === '/robots.txt' ? 'text/plain' : request.url === '/sitemap.xml' ? 'application/xml' : 'text/html' }).end(body);
      });
      await new Promise<void>((done) => { web.listen(0, '127.0.0.1', done); });
      origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
      kit = await testServer({ database, plugins: ['directory', 'reader', 'accounts', 'discovery'], config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false } } } });
    });
    after(async () => {
      isHeld = false;
      await kit.close();
      web.closeAllConnections();
      await new Promise((done) => { web.close(done); });
    });

    it('reads the seeds and likely pages of their hosts, and proposes who is named there', async () => {
      const { status, body, headers } = await start();
      expect([status, body.status, body.place]).to.equal([202, 'pending', 'gladstone,missouri']);
      expect(headers['location']).to.equal(body.links.self);
      expect(Number(headers['retry-after'])).to.be.above(0);
      const run = await ended(body.id);
      expect(run).to.include({ status: 'completed', error: null, review_state: 'unreviewed', visibility: 'workspace' });
      const { data } = (await call('GET', `/api/discovery-runs/${body.id}/candidates`)).body;
      expect(data.map(({ name }: { name: string }) => name)).to.include(['Maria Delgado', 'Thomas Okafor', 'Susan Whitfield', 'Riverbend Tenants Union']);
      for (const { claims } of data) for (const { excerpt, locator } of claims) expect(locator.end - locator.start).to.equal(excerpt.length);
      expect(data.find(({ name }: { name: string }) => name === 'Maria Delgado').claims.find(({ property }: { property: string }) => property === 'place').value).to.equal('gladstone,missouri');
    });

    it('is read and listed by assistants', async () => {
      const { id } = (await call('GET', '/api/discovery-runs')).body.data[0];
      const shown = await kit.tool('get_discovery_run', { run_id: id }, { as: caller });
      expect(shown.text).to.contain(['"Maria Delgado" (person, pending', `${origin}/about/staff`]);
      expect((await kit.tool('list_discovery_runs', {}, { as: caller })).data.total).to.equal(1);
      expect(JSON.parse(await kit.read(`civic://discovery-runs/${id}`, { as: caller })).id).to.equal(id);
      await expect(kit.tool('get_discovery_run', { run_id: id }, { as: { ...caller, workspace_id: newId() } })).to.reject();
    });

    it('requests no page twice, none that robots.txt forbids, and none of other hosts', async () => {
      const pages = requests.filter((path) => path !== '/robots.txt');
      expect(pages.length).to.equal(new Set(pages).size);
      expect(pages).to.not.include(['/private/members', '/members/login']);
      const { id } = (await call('GET', '/api/discovery-runs')).body.data[0];
      const { data } = (await call('GET', `/api/discovery-runs/${id}/sources`)).body;
      expect(data.find(({ url }: { url: string }) => url.endsWith('/private/members'))).to.include({ state: 'skipped', reason: 'robots' });
      expect(data.every(({ url }: { url: string }) => url.startsWith(origin))).to.be.true();
    });

    it('rejects a place that does not exist, an unknown issue area, and callers without the plan', async () => {
      const place = await start({ location: 'Springfield' });
      expect([place.status, place.body.errors[0].pointer]).to.equal([400, '/location']);
      expect(Number(place.body.suggestions.length)).to.be.above(1);
      expect((await start({ issue_areas: ['no_such_issue'] })).body.errors[0].pointer).to.equal('/issue_areas/0');
      expect((await start({ issue_areas: [] })).status).to.equal(400);
      for (const seed of ['http://a.example:99999/', 'https://user:word@a.example/', 'https://a.example/?token=secret']) expect((await start({ seeds: [seed] })).body.errors[0].pointer, seed).to.match(/^\/seeds\/0/);
      expect((await call('POST', '/api/discovery-runs', { location: 'Gladstone, MO', issue_areas: ['housing_affordability'] }, { ...caller, capabilities: [] })).body.code).to.equal('plan_required');
    });

    it('is cancelled while it runs, once, and does not count against the quota then', async () => {
      isHeld = true;
      const { id } = (await start({ location: 'Smithville, MO', seeds: [`${origin}/slow`] })).body;
      while (!requests.includes('/slow')) await sleep(20);
      const cancelled = await call('POST', `/api/discovery-runs/${id}/cancel`);
      expect([cancelled.body.status, cancelled.body.error.code]).to.equal(['failed', 'cancelled']);
      isHeld = false;
      expect((await call('POST', `/api/discovery-runs/${id}/cancel`)).body.code).to.equal('run_ended');
      await sleep(300);
      expect((await call('GET', `/api/discovery-runs/${id}`)).body.error.code).to.equal('cancelled');
    });

    it('is 429 when the runs of the month are used', async () => {
      let last = await start({ seeds: [] });
      for (let at = 0; at < 25 && last.status === 202; at++) last = await start({ seeds: [] });
      expect([last.status, last.body.code]).to.equal([429, 'run_quota_spent']);
      expect(last.headers['retry-after']).to.exist();
      // 20 of the plan: the cancelled run does not count.
      expect((await call('GET', '/api/discovery-runs?limit=1')).body.total).to.equal(21);
    });
  });
}
