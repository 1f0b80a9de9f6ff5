import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId, type Caller } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OLD = '2020-01-01T00:00:00.000Z';
const PAGE = '<html><head><title>Our staff | Riverbend Tenants Union</title></head><body><main><p>Riverbend Tenants Union works for renters of Gladstone.</p><ul class="staff"><li><h3>Maria Delgado</h3><p>Executive Director</p></li><li><h3>Susan Whitfield</h3><p>Board President</p></li></ul></main></body></html>';
const config = (schedules: unknown[]) => ({ http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false }, discovery: { schedules } } });

for (const database of testDatabases()) {
  describe(`runs of the operator on ${database}`, { timeout: 120_000 }, () => {
    let kit: TestServer;
    let web: Server;
    let origin: string;
    const scope = ['discovery:read', 'discovery:write', 'entities:write', 'directory:read'];
    const reviewer: Partial<Caller> = { account_id: newId(), role: 'reviewer', workspace_id: newId(), workspace_role: 'owner', scope, capabilities: ['discovery'], plan: 'individual' };
    const member: Partial<Caller> = { ...reviewer, account_id: newId(), role: 'user' };
    const call = (method: string, path: string, payload?: unknown, as = reviewer) => kit.request(method, path, { as, ...(payload !== undefined && { payload }) });
    const RUN = { location: 'Liberty, MO', issue_areas: ['housing_affordability'] };
    async function ended(id: string) {
      for (let waited = 0; waited < 600; waited++) {
        const { body } = await call('GET', `/api/discovery-runs/${id}?visibility=public`);
        if (body.status === 'completed') return body;
        await sleep(50);
      }
      throw new Error('The run did not end');
    }

    before(async () => {
      web = createServer((request, response) => { response.writeHead(request.url === '/staff' ? 200 : 404, { 'content-type': 'text/html' }).end(request.url === '/staff' ? PAGE : ''); });
      await new Promise<void>((done) => { web.listen(0, '127.0.0.1', done); });
      origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
      kit = await testServer({ database, plugins: ['directory', 'reader', 'accounts', 'discovery'], config: config([{ location: 'Gladstone, MO', issue_areas: ['housing_affordability'], every: 'weekly' }]) });
    });
    after(async () => {
      await kit.close();
      web.closeAllConnections();
      await new Promise((done) => { web.close(done); });
    });

    it('start by a schedule, once in each period, and are of the operator', async () => {
      let data = [];
      for (let waited = 0; waited < 200 && data.length === 0; waited++) {
        await sleep(50);
        data = (await call('GET', '/api/discovery-runs?visibility=public')).body.data;
      }
      expect(data).to.have.length(1);
      expect(data[0]).to.include({ location: 'Gladstone, MO', place: 'gladstone,missouri', visibility: 'public', origin: { type: 'schedule', id: null } });
      await ended(data[0].id);
      expect((await call('GET', '/api/discovery-runs?scope=workspace')).body.total).to.equal(0);
      let printed: any;
      await kit.composition.commands.find(({ name }) => name === 'discovery schedules')!.run({ terminal: { json: true, print: (value: unknown) => { printed = value; } } as never, positionals: [], options: {}, cwd: '.' });
      const [schedule] = printed.data;
      expect(schedule).to.include({ location: 'Gladstone, MO', place: 'gladstone,missouri', every: 'weekly', depth: 'standard' });
      expect(Date.parse(schedule.next_at) - Date.now()).to.be.between(6.9 * 86_400_000, 7 * 86_400_000);
    });

    it('are started by reviewers without a quota, and by no other caller', async () => {
      expect((await call('POST', '/api/discovery-runs?visibility=public', RUN, member)).body.code).to.equal('permission_required');
      const { status, body, headers } = await call('POST', '/api/discovery-runs?visibility=public', { ...RUN, seeds: [`${origin}/staff`] });
      expect([status, body.visibility, headers['location']]).to.equal([202, 'public', body.links.self]);
      expect((await call('GET', body.links.self.replace(/^https?:\/\/[^/]+/, ''))).body.id).to.equal(body.id);
      await ended(body.id);
      expect(await kit.db.read('discovery_months').select('*')).to.equal([]);
      expect((await call('GET', `/api/discovery-runs/${body.id}?visibility=public`, undefined, member)).status).to.equal(403);
    });

    it('are the latest run of the coverage of their place; those of workspaces are not', async () => {
      await call('POST', '/api/discovery-runs', { ...RUN, location: 'Smithville, MO' }, member);
      const coverage = async (place: string) => (await kit.request('GET', `/api/places/${place}/coverage`)).body.latest_run;
      const latest = await coverage('liberty,missouri');
      expect(latest.status).to.equal('completed');
      expect(Date.parse(latest.completed_at)).to.be.above(0);
      expect(await coverage('smithville,missouri')).to.be.null();
    });

    it('are proposed where other places have actors and a place has none', async () => {
      const enter = (name: string, place: string, issue: string) => call('POST', '/api/entities', {
        type: 'organization', visibility: 'public', sources: [{ local_id: 'a', url: 'https://a.example/' }],
        claims: [['name', name], ['place', place], ['issue_area', issue]].map(([property, value]) => ({ property, value, source_local_id: 'a' })),
      });
      expect((await enter('Liberty Renters', 'liberty,missouri', 'housing_affordability')).status).to.equal(201);
      await enter('Smithville Workers', 'smithville,missouri', 'gig_economy_and_precarious_work');
      const { data, total } = (await call('GET', '/api/discovery-runs/proposals')).body;
      expect(data).to.equal([
        { place: 'liberty,missouri', location: 'Liberty, MO', issue_areas: ['gig_economy_and_precarious_work'], depth: 'standard', reason: 'missing', entity_count: 1 },
        { place: 'smithville,missouri', location: 'Smithville, MO', issue_areas: ['housing_affordability'], depth: 'standard', reason: 'missing', entity_count: 1 },
      ]);
      expect(total).to.equal(2);
      expect((await call('GET', '/api/discovery-runs/proposals', undefined, member)).body.code).to.equal('permission_required');
      const { location, issue_areas, depth } = data[0];
      expect((await call('POST', '/api/discovery-runs?visibility=public', { location, issue_areas, depth })).status).to.equal(202);
      expect((await call('GET', '/api/discovery-runs/proposals')).body.data.map(({ place }: { place: string }) => place)).to.equal(['smithville,missouri']);
    });

    it('lose their pages and doubtful candidates after a time, but no decision', async () => {
      const { id } = (await call('POST', '/api/discovery-runs?visibility=public', { ...RUN, seeds: [`${origin}/staff`] })).body;
      await ended(id);
      const candidates = async () => (await call('GET', `/api/discovery-runs/${id}/candidates?visibility=public`)).body.data as { id: string; name: string; decision: string }[];
      const [rejected, doubtful, likely] = await candidates();
      await call('POST', `/api/discovery-runs/${id}/candidates/${rejected!.id}/decision?visibility=public`, { decision: 'reject' });
      await kit.db.write(async (tx) => {
        await tx('discovery_candidates').where({ id: likely!.id }).update({ score: 0.9, updated_at: OLD });
        await tx('discovery_candidates').whereIn('id', [rejected!.id, doubtful!.id]).update({ score: 0.55, updated_at: OLD });
        await tx('discovery_runs').where({ id }).update({ created_at: OLD, completed_at: OLD });
        await kit.composition.jobs.of('discovery').enqueue(tx, 'discovery.prune', {});
      });
      const pages = async () => (await call('GET', `/api/discovery-runs/${id}/sources?visibility=public`)).body.total;
      for (let waited = 0; waited < 200 && await pages() > 0; waited++) await sleep(50);
      await sleep(200);
      expect(await pages()).to.equal(0);
      const left = await candidates();
      expect(left.map((one) => one.id)).to.include([rejected!.id, likely!.id]);
      expect(left.map((one) => one.id)).to.not.include(doubtful!.id);
      expect(left.find((one) => one.id === rejected!.id)!.decision).to.equal('rejected');
      expect((await call('GET', `/api/discovery-runs/${id}?visibility=public`)).body.counts.sources_fetched).to.equal(1);
    });
  });
}

describe('a schedule', () => {
  it('stops the start when it names a place or an issue area that does not exist', async () => {
    for (const [schedule, message] of [
      [{ location: 'Springfield', issue_areas: ['housing_affordability'] }, /schedules\[0\]\.location: "Springfield" names no place for certain; did you mean/],
      [{ location: 'Gladstone, MO', issue_areas: ['no_such'] }, /schedules\[0\]\.issue_areas: "no_such" is no issue area/],
      [{ location: 'Gladstone, MO', issue_areas: ['housing_affordability'], every: 'day' }, /every/],
    ] as const) await expect(testServer({ plugins: ['directory', 'reader', 'discovery'], config: config([schedule]) })).to.reject(message);
  });
});
