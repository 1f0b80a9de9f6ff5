import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, newId, type Caller, type Terminal, type Tx } from 'civic';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SYNCS = '/api/discovery-runs/syncs';
const source = (id: string, more: object = {}) => ({ local_id: id, url: `https://research.example/${id}`, title: `Page ${id}`, ...more });
const entry = (id: string, name: string, website: string, type = 'organization') => ({
  local_id: id, type, name, claims: [{ property: 'name', value: name, source_local_id: 's1' }, { property: 'website', value: website, source_local_id: 's1' }],
});
const bundle = (more: object = {}) => ({
  tool: { name: 'scout', version: '1.0.0' }, local_run_id: newId(), location: 'Gladstone, MO', issue_areas: ['housing_affordability'], visibility: 'workspace',
  sources: [source('s1')], entries: [entry('e1', `Elm Street Tenants ${newId()}`, 'https://sent.example/')], ...more,
});

for (const database of testDatabases()) {
  describe(`hostile and late syncs on ${database}`, { timeout: 120_000 }, () => {
    let kit: TestServer;
    /** Runs in each transaction that stores actors. */
    let whenUsed: (tx: Tx) => Promise<void> = async () => {};
    const watcher = definePlugin({ name: 'watcher', summary: 'Fails or waits', needs: ['accounts'], register(_server, civic) { civic.service('accounts').workspaceHooks.whenUsed((tx) => whenUsed(tx)); } });
    const caller: Partial<Caller> = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner', scope: ['discovery:read', 'discovery:write', 'entities:write', 'directory:read'], capabilities: ['discovery'], plan: 'individual' };
    const call = (method: string, path: string, payload?: unknown, as: object = caller) => kit.request(method, path, { as: as as never, ...(payload !== undefined && { payload }) });
    const sync = (payload: unknown, as: object = caller) => call('POST', SYNCS, payload, as);
    const candidates = async (runId: string) => (await call('GET', `/api/discovery-runs/${runId}/candidates`)).body.data;
    const websites = (claims: { property: string; value: unknown }[]) => claims.filter(({ property }) => property === 'website').map(({ value }) => value);

    async function command(name: string, options: Record<string, string>): Promise<void> {
      const terminal = { json: true, signal: new AbortController().signal, out() {}, err() {}, progress() {}, print() {}, style: (_style: unknown, text: string) => text } as Terminal;
      await kit.composition.commands.find((one) => one.name === name)!.run({ terminal, positionals: [], options, cwd: process.cwd() });
    }

    before(async () => { kit = await testServer({ database, plugins: ['directory', 'reader', 'accounts', 'discovery', watcher], config: { jobs: { poll_seconds: 0.1 } } }); });
    after(() => kit.close());

    it('end at the first unknown member, without reading the others', async () => {
      const payload = `{${Array.from({ length: 100_000 }, (_, at) => `"a/${at}":1`).join()}`;
      const { status, body } = await kit.request('POST', SYNCS, { as: caller as never, payload, headers: { 'content-type': 'application/json' } });
      expect([status, body.code, body.errors]).to.equal([400, 'invalid_request', [{ pointer: '/a~10', detail: 'is not allowed' }]]);
    });

    it('are rejected for sources whose addresses have a password or a key', async () => {
      for (const url of ['https://a.example/?Token=1', 'https://a.example/?X-Amz-Signature=1', 'https://me:word@a.example/']) {
        const { status, body } = await sync(bundle({ sources: [source('s1', { url })] }));
        expect([status, body.errors?.[0]?.pointer], url).to.equal([400, '/sources/0/url']);
      }
    });

    it('do not list people who asked not to be listed at the place of the run', async () => {
      await command('unlisted add', { name: 'Finn Moe', place: 'Gladstone, MO' });
      const person = entry('p1', 'Finn Moe', 'https://finn.example/', 'person');
      const refused = await sync(bundle({ entries: [entry('e1', `Others ${newId()}`, 'https://others.example/'), person] }));
      expect([refused.status, refused.body.code, refused.body.errors?.[0]?.pointer]).to.equal([409, 'unlisted_person', '/entries/1']);
      expect((await call('GET', '/api/discovery-runs')).body.total).to.equal(0);
      expect((await sync(bundle({ location: 'Kansas City, MO', entries: [person] }))).status).to.equal(201);
    });

    it('do not overwrite the correction of a reviewer', async () => {
      const sent = bundle();
      const name = sent.entries[0]!.name;
      const { run_id, entry_links: [{ entity_id: first }] } = (await sync(sent)).body;
      const [{ id, claims }] = await candidates(run_id);
      const path = `/api/discovery-runs/${run_id}/candidates/${id}`;
      await call('DELETE', `${path}/decision`);
      const corrected = claims.map(({ property, value, source_local_id }: { property: string; value: unknown; source_local_id: string }) => ({ property, value: property === 'website' ? 'https://corrected.example/' : value, source_local_id }));
      expect((await call('PATCH', path, { claims: corrected })).status).to.equal(200);
      const resend = async (website: string) => (await sync({ ...sent, entries: [entry('e1', name, website), entry('e2', `Besides ${newId()}`, 'https://besides.example/')] })).body.entry_links[0];
      // While the candidate waits, also another content leaves it as it was corrected.
      expect([(await resend('https://sent.example/')).action, (await resend('https://later.example/')).action]).to.equal(['held', 'held']);
      expect((await candidates(run_id)).filter((one: { id: string }) => one.id === id).map((one: { claims: [] }) => websites(one.claims))).to.equal([['https://corrected.example/']]);
      const { body: { entity_id } } = await call('POST', `${path}/decision`, { decision: 'accept' });
      expect(entity_id).to.not.equal(first);
      const stored = async () => websites((await call('GET', `/api/entities/${entity_id}`)).body.claims);
      expect(await resend('https://sent.example/')).to.include({ entity_id, action: 'updated' });
      expect(await stored()).to.equal(['https://corrected.example/']);
      expect(await resend('https://later.example/')).to.include({ action: 'held' });
      expect(await stored()).to.equal(['https://corrected.example/']);
      expect((await candidates(run_id)).find((one: { id: string }) => one.id === id)).to.include({ decision: 'pending' });
    });

    it('leave no bundle reported as stored that another one has overwritten in part', async () => {
      const versions = () => {
        const [id, names] = [newId(), Array.from({ length: 26 }, (_, at) => `Mixed ${at} ${newId()}`)];
        const version = (website: string, last: string) => bundle({ local_run_id: id, entries: [...names.slice(0, 25).map((name, at) => entry(`m${at}`, name, website)), entry(last, names[25]!, website)] });
        return [version('https://a.example/', 'a'), version('https://b.example/', 'b')] as const;
      };
      let uses = 0;
      const [first, second] = versions();
      await sync(first);
      whenUsed = async () => { uses++; };
      expect((await sync(second)).body.entry_links.map(({ action }: { action: string }) => action)).to.equal([...Array.from({ length: 25 }, () => 'updated'), 'created']);
      const [a, b] = versions();
      whenUsed = async () => {};
      const stored = (await sync(a)).body;
      // The transaction that creates the last entry fails, as if the process had been killed.
      whenUsed = async () => { if (--uses === 0) throw new Error('The process was killed'); };
      expect((await sync(b)).status).to.equal(500);
      whenUsed = async () => {};
      const website = async () => websites((await call('GET', `/api/entities/${stored.entry_links[0].entity_id}`)).body.claims);
      expect(await website()).to.equal(['https://b.example/']);
      const again = await sync(a);
      expect([again.status, again.body.duplicate, await website()]).to.equal([200, false, ['https://a.example/']]);
      expect((await sync(a)).body.duplicate).to.equal(true);
    });

    it('end when another bundle took over their part', async () => {
      const sent = bundle({ entries: Array.from({ length: 26 }, (_, at) => entry(`t${at}`, `Taken ${at} ${newId()}`, 'https://taken.example/')) });
      whenUsed = (tx) => tx('discovery_sync_parts').whereLike('hash', '% %').update({ hash: 'another token' });
      const { status, body } = await sync(sent);
      whenUsed = async () => {};
      expect([status, body.code]).to.equal([409, 'sync_replaced']);
      expect((await sync(sent)).status).to.equal(201);
    });

    it('count changed entries against the limit of the month', async () => {
      const own = { ...caller, workspace_id: newId() };
      const sent = bundle();
      await sync(sent, own);
      const resend = (website: string) => sync({ ...sent, completed_at: new Date().toISOString(), entries: [entry('e1', sent.entries[0]!.name, website)] }, own);
      const synced = async () => (await kit.db.read('discovery_months').where({ workspace_id: own.workspace_id }).first('synced')).synced;
      expect([await synced(), (await resend('https://sent.example/')).status, await synced()]).to.equal([2, 200, 2]);
      expect([(await resend('https://changed.example/')).status, await synced()]).to.equal([200, 3]);
      await kit.db.write((tx) => tx('discovery_months').where({ workspace_id: own.workspace_id }).update({ synced: 20_000 }));
      expect([(await resend('https://changed.example/')).status, (await resend('https://again.example/')).body.code]).to.equal([200, 'sync_limit']);
    });

    it('are limited on a node, whatever their workspace is', async () => {
      let open = () => {};
      const gate = new Promise<void>((done) => { open = done; });
      whenUsed = () => gate;
      const sent = Array.from({ length: 7 }, () => sync(bundle(), { ...caller, workspace_id: newId() }));
      const refused = await Promise.race(sent);
      open();
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).to.equal([503, 'unavailable', '5']);
      expect((await Promise.all(sent)).map(({ status }) => status).sort()).to.equal([201, 201, 201, 201, 201, 201, 503]);
      whenUsed = async () => {};
      expect((await sync(bundle())).status).to.equal(201);
    });

    it('do not stop the job that indexes pages', async () => {
      await sync(bundle({ sources: [source('s1', { text_hash: 'a'.repeat(64), retrieved_at: null })] }));
      // As syncs stored pages before.
      await kit.db.write((tx) => tx('discovery_pages').update({ issue_areas: null }));
      const jobs = kit.composition.jobs.of('discovery');
      const id = await kit.db.write((tx) => jobs.enqueue(tx, 'discovery.index', {}));
      for (let waited = 0; waited < 100 && (await jobs.byId(id))?.state !== 'completed'; waited++) await sleep(50);
      expect((await jobs.byId(id))?.state).to.equal('completed');
    });
  });
}
