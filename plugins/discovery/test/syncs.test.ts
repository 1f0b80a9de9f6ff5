import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, newId, type Caller } from 'civic';
import { gzipSync } from 'node:zlib';
import { testDatabases, testServer, type TestServer } from 'civic/testing';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SYNCS = '/api/discovery-runs/syncs';
const source = (id: string, more: object = {}) => ({ local_id: id, url: `https://research.example/${id}`, title: `Page ${id}`, retrieved_at: '2026-01-10T10:00:00Z', text_hash: `hash-${id}`, ...more });
const entry = (id: string, name: string, claims: object[] = [], from = 's1') => ({
  local_id: id, decision: 'accepted', type: 'organization', name, claims: [{ property: 'name', value: name, source_local_id: from, excerpt: `The ${name} meets`, locator: { start: 4, end: 4 + name.length } }, ...claims],
});
const website = (url: string, from = 's1') => ({ property: 'website', value: url, source_local_id: from });
const bundle = (more: object = {}) => ({
  tool: { name: 'scout', version: '1.0.0' }, local_run_id: newId(), location: 'Gladstone, MO', issue_areas: ['housing_affordability'], started_at: '2026-01-10T09:00:00Z', completed_at: '2026-01-10T11:00:00Z',
  visibility: 'workspace', sources: [source('s1')], entries: [entry('e1', `Elm Street Tenants ${newId()}`)], ...more,
});

for (const database of testDatabases()) {
  describe(`syncs on ${database}`, { timeout: 120_000 }, () => {
    let kit: TestServer;
    let usesLeft = Infinity;
    /** Transactions that create actors wait for it. */
    let gate: Promise<void> = Promise.resolve();
    /** Lets transactions wait, or fail as if the process had been killed. */
    const breaker = definePlugin({
      name: 'breaker', summary: 'Fails', needs: ['accounts'],
      register(_server, civic) { civic.service('accounts').workspaceHooks.whenUsed(async () => { await gate; if (usesLeft-- <= 0) throw new Error('The process was killed'); }); },
    });
    const caller: Partial<Caller> = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner', scope: ['discovery:read', 'discovery:write', 'entities:write', 'directory:read'], capabilities: ['discovery'], plan: 'individual' };
    const call = (method: string, path: string, payload?: unknown, as: object = caller) => kit.request(method, path, { as: as as never, ...(payload !== undefined && { payload }) });
    const sync = (payload: unknown, as: object = caller) => call('POST', SYNCS, payload, as);
    const actor = async (id: string) => (await call('GET', `/api/entities/${id}`)).body;
    const values = async (id: string, property: string) => (await actor(id)).claims.filter((claim: { property: string }) => claim.property === property).map(({ value }: { value: unknown }) => value);
    const candidates = async (runId: string) => (await call('GET', `/api/discovery-runs/${runId}/candidates`)).body.data;

    before(async () => {
      kit = await testServer({ database, plugins: ['directory', 'reader', 'accounts', 'discovery', breaker], config: { jobs: { poll_seconds: 0.1 } } });
    });
    after(() => kit.close());

    it('stores entries as private actors with their claims and sources, and lists the run [service.local-sync, endpoints.runs-sync, resources.receipt-run, resources.receipt-entries, resources.receipt-states, resources.receipt-workspace]', async () => {
      const sent = bundle({ entries: [entry('e1', 'Maple Row Neighbors', [website('https://maple-row.example/'), { property: 'place', value: 'gladstone-mo', source_local_id: 's2' }])], sources: [source('s1'), source('s2', { excerpt: 'In Gladstone', publication: 'The Courier' }), source('unused')] });
      const { status, body, headers } = await sync(sent);
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(headers.location).to.match(new RegExp(`/api/discovery-runs/${body.run_id}$`));
      expect(body).to.equal({
        run_id: body.run_id, duplicate: false, visibility: 'workspace', review_state: 'reviewed', entry_links: [{ local_id: 'e1', entity_id: body.entry_links[0].entity_id, action: 'created', visibility: 'workspace' }],
        source_links: [{ local_id: 's1', source_id: body.source_links[0].source_id }, { local_id: 's2', source_id: body.source_links[1].source_id }],
        workspace_links: { briefs: [], lists: [], coverage_targets: [] }, entries_persisted: 1, sources_persisted: 2,
      });
      const stored = await actor(body.entry_links[0].entity_id);
      expect([stored.name, stored.visibility, stored.contact.website, stored.places[0].place_key]).to.equal(['Maple Row Neighbors', 'workspace', 'https://maple-row.example/', 'gladstone,missouri']);
      expect(stored.claims.find(({ property }: { property: string }) => property === 'name')).to.include({ excerpt: 'The Maple Row Neighbors meets', locator: { start: 4, end: 23 }, source_id: body.source_links[0].source_id });
      expect(stored.sources.find(({ id }: { id: string }) => id === body.source_links[1].source_id)).to.include({ url: 'https://research.example/s2', publication: 'The Courier', excerpt: 'In Gladstone', content_hash: 'hash-s2', retrieved_at: '2026-01-10T10:00:00.000Z', archived: false });
      const run = (await call('GET', '/api/discovery-runs')).body.data.find(({ id }: { id: string }) => id === body.run_id);
      expect(run).to.include({ status: 'completed', location: 'Gladstone, MO', place: 'gladstone,missouri', visibility: 'workspace', review_state: 'reviewed', completed_at: '2026-01-10T11:00:00.000Z', origin: { type: 'sync', id: sent.local_run_id } });
      expect(run.sync).to.include({ tool: { name: 'scout', version: '1.0.0' }, local_run_id: sent.local_run_id });
      expect((await call('GET', `/api/discovery-runs/${body.run_id}/sources`)).body.data.map(({ url, findings }: { url: string; findings: number }) => [url, findings])).to.equal([['https://research.example/s1', 1], ['https://research.example/s2', 1]]);
    });

    it('answers the same bundle again as a duplicate with the same receipt, without a change', async () => {
      const sent = bundle();
      const first = await sync(sent);
      const again = await sync(sent);
      expect([first.status, again.status]).to.equal([201, 200]);
      expect(again.body).to.equal({ ...first.body, duplicate: true });
      expect(await candidates(first.body.run_id)).to.have.length(1);
    });

    it('stores a bundle that arrives several times at once exactly once', async () => {
      const sent = bundle({ entries: ['a', 'b', 'c'].map((id) => entry(id, `Crowd ${id} ${newId()}`)) });
      const all = await Promise.all([sync(sent), sync(sent)]);
      expect(all.map(({ status }) => status).sort(), JSON.stringify(all.map(({ body }) => body))).to.equal([200, 201]);
      expect(all.map(({ body }) => body.duplicate).sort()).to.equal([false, true]);
      expect(all[0]!.body.entry_links).to.equal(all[1]!.body.entry_links);
      expect(await candidates(all[0]!.body.run_id)).to.have.length(3);
    });

    it('updates entries of another bundle by local_id: claims are added and retracted, absent entries stay', async () => {
      const name = `Birch Court Union ${newId()}`;
      const sent = bundle({ sources: [source('s1'), source('s2')], entries: [entry('e1', name, [website('https://old.example/')]), entry('e2', `Left alone ${newId()}`)] });
      const first = (await sync(sent)).body;
      const { status, body } = await sync({ ...sent, sources: [source('s1'), source('s2')], entries: [entry('e1', name, [website('https://new.example/', 's2')]), entry('e3', `Late ${newId()}`)] });
      expect([status, body.duplicate, body.run_id], JSON.stringify(body)).to.equal([200, false, first.run_id]);
      expect(body.entry_links.map(({ action }: { action: string }) => action)).to.equal(['updated', 'created']);
      expect(body.entry_links[0].entity_id).to.equal(first.entry_links[0].entity_id);
      expect(await values(first.entry_links[0].entity_id, 'website')).to.equal(['https://new.example/']);
      expect((await actor(first.entry_links[1].entity_id)).visibility).to.equal('workspace');
      // The first bundle again is another bundle than the last one.
      const back = await sync(sent);
      expect([back.status, back.body.duplicate]).to.equal([200, false]);
      expect(await values(first.entry_links[0].entity_id, 'website')).to.equal(['https://old.example/']);
      expect(await candidates(first.run_id)).to.have.length(3);
    });

    it('lets reviewers undo an entry, also after an update, and does not bring it back', async () => {
      const sent = bundle();
      const { run_id, entry_links: [link] } = (await sync(sent)).body;
      await sync({ ...sent, entries: [{ ...sent.entries[0]!, claims: [...sent.entries[0]!.claims, website('https://undone.example/')] }] });
      const [candidate] = await candidates(run_id);
      expect(candidate).to.include({ decision: 'accepted', entity_id: link.entity_id });
      expect((await call('DELETE', `/api/discovery-runs/${run_id}/candidates/${candidate.id}/decision`)).status).to.equal(200);
      expect((await call('GET', `/api/entities/${link.entity_id}`)).status).to.equal(404);
      const { body } = await sync({ ...sent, entries: [{ ...sent.entries[0]!, claims: [...sent.entries[0]!.claims, website('https://third.example/')] }] });
      expect(body.entry_links).to.equal([{ local_id: 'e1', entity_id: null, action: 'held', visibility: 'workspace' }]);
      expect([body.review_state, (await candidates(run_id))[0].decision]).to.equal(['unreviewed', 'pending']);
    });

    it('does not overwrite what people changed here: the entry waits as a candidate', async () => {
      for (const act of ['edit', 'delete', 'publish', 'merge'] as const) {
        const sent = bundle({ entries: [entry('e1', `Changed by ${act} ${newId()}`, [website('https://sent.example/')])] });
        const { run_id, entry_links: [{ entity_id: id }] } = (await sync(sent)).body;
        const reviewer = { ...caller, role: 'reviewer' };
        const mine = await call('POST', '/api/entities', { type: 'organization', sources: [{ local_id: 's', url: 'https://own.example/' }], claims: [{ property: 'name', value: `Own ${newId()}`, source_local_id: 's' }] });
        if (act === 'edit') {
          const claim = (await actor(id)).claims.find(({ property }: { property: string }) => property === 'website');
          await call('PATCH', `/api/entities/${id}`, { retract: [claim.id], sources: [{ local_id: 's', url: 'https://own.example/' }], add: [{ property: 'website', value: 'https://edited.example/', source_local_id: 's' }] });
        } else if (act === 'delete') await call('DELETE', `/api/entities/${id}`);
        else if (act === 'publish') await call('POST', `/api/entities/${id}/publish`, undefined, reviewer);
        else await call('POST', `/api/entities/${id}/merge`, { into: mine.body.id, reason: 'the same' });
        // Sent again with another entry besides, the entry itself is the same.
        const same = (await sync({ ...sent, entries: [...sent.entries, entry('e2', `Another ${newId()}`)] })).body.entry_links[0];
        expect(same.action, act).to.equal(act === 'delete' || act === 'merge' ? 'held' : 'updated');
        const { status, body } = await sync({ ...sent, entries: [entry('e1', sent.entries[0]!.name, [website('https://again.example/')])] });
        expect([status, body.entry_links[0].action, body.review_state], act).to.equal([200, 'held', 'in_review']);
        expect(body.entry_links[0].entity_id, act).to.equal(act === 'delete' || act === 'merge' ? null : id);
        const now = await call('GET', `/api/entities/${id}`);
        if (act === 'edit') expect(await values(id, 'website')).to.equal(['https://edited.example/']);
        else if (act === 'publish') expect([now.body.visibility, await values(id, 'website')]).to.equal(['public', ['https://sent.example/']]);
        else expect(now.status, act).to.equal(404);
        const waiting = (await candidates(run_id)).find(({ decision }: { decision: string }) => decision === 'pending');
        expect(waiting.claims.find(({ property }: { property: string }) => property === 'website').value).to.equal('https://again.example/');
      }
    });

    it('adds the claims of an entry to the actor of the workspace that it certainly is, and changes no public one', async () => {
      const identifier = { property: 'identifier', value: { scheme: 'ein', value: `12-${newId()}` }, source_local_id: 's1' };
      const name = `Cedar Point Land Trust ${newId()}`;
      const first = (await sync(bundle({ entries: [entry('e1', name, [identifier, website('https://cedar.example/')])] }))).body.entry_links[0];
      const other = bundle({ sources: [source('s9')], entries: [entry('x1', name, [{ ...identifier, source_local_id: 's9' }, website('https://cedar.example/', 's9'), { property: 'phone', value: '+1 816 555 0100', source_local_id: 's9' }], 's9')] });
      const matched = (await sync(other)).body;
      expect(matched.entry_links).to.equal([{ local_id: 'x1', entity_id: first.entity_id, action: 'matched', visibility: 'workspace' }]);
      expect(await values(first.entity_id, 'phone')).to.equal(['+1 816 555 0100']);
      // Another bundle replaces only what this run added.
      await sync({ ...other, entries: [entry('x1', name, [{ ...identifier, source_local_id: 's9' }, { property: 'phone', value: '+1 816 555 0199', source_local_id: 's9' }], 's9')] });
      expect([await values(first.entity_id, 'phone'), await values(first.entity_id, 'website')]).to.equal([['+1 816 555 0199'], ['https://cedar.example/']]);
      const reviewer = { ...caller, role: 'reviewer' };
      expect((await call('POST', `/api/entities/${first.entity_id}/publish`, undefined, reviewer)).status).to.equal(200);
      const open = (await sync(bundle({ sources: [source('s7')], entries: [entry('y1', name, [{ ...identifier, source_local_id: 's7' }, website('https://cedar.example/', 's7'), { property: 'phone', value: '+1 816 555 0111', source_local_id: 's7' }], 's7')] }), reviewer)).body;
      expect(open.entry_links).to.equal([{ local_id: 'y1', entity_id: first.entity_id, action: 'matched', visibility: 'public' }]);
      expect([await values(first.entity_id, 'phone'), open.source_links]).to.equal([['+1 816 555 0199'], []]);
    });

    it('publishes nothing: public is stored for reviewers only, and entries of others are held', async () => {
      const user = (await sync(bundle({ visibility: 'public' }))).body;
      expect([user.visibility, user.entry_links[0].action, user.entry_links[0].visibility]).to.equal(['workspace', 'held', 'workspace']);
      const reviewer = (await sync(bundle({ visibility: 'public' }), { ...caller, role: 'reviewer' })).body;
      expect([reviewer.visibility, reviewer.entry_links[0].action, reviewer.entry_links[0].visibility]).to.equal(['public', 'created', 'workspace']);
      expect((await kit.request('GET', `/api/entities/${reviewer.entry_links[0].entity_id}`)).status).to.equal(404);
      expect((await call('GET', `/api/discovery-runs/${reviewer.run_id}`)).body).to.include({ visibility: 'workspace' });
    });

    it('keeps the runs of workspaces apart', async () => {
      const sent = bundle();
      const other = { ...caller, account_id: newId(), workspace_id: newId() };
      const [mine, theirs] = [await sync(sent), await sync(sent, other)];
      expect([mine.status, theirs.status]).to.equal([201, 201]);
      expect(theirs.body.run_id).to.not.equal(mine.body.run_id);
      expect(theirs.body.entry_links[0]).to.include({ action: 'created' });
      expect(theirs.body.source_links[0].source_id).to.not.equal(mine.body.source_links[0].source_id);
      expect((await call('GET', `/api/discovery-runs/${mine.body.run_id}`, undefined, other)).status).to.equal(404);
    });

    it('takes parts in any order, each once', async () => {
      const sent = bundle({ parts: 3 });
      const part = (number: number) => ({ ...sent, part: number, entries: [entry(`p${number}`, `Part ${number} of ${sent.local_run_id}`)] });
      const second = await sync(part(2));
      const again = await sync(part(2));
      const [first, third] = [await sync(part(1)), await sync(part(3))];
      expect([second, again, first, third].map(({ status, body }) => [status, body.duplicate, body.entry_links[0].local_id, body.entries_persisted])).to.equal([[201, false, 'p2', 1], [200, true, 'p2', 1], [201, false, 'p1', 1], [201, false, 'p3', 1]]);
      expect((await candidates(first.body.run_id)).length).to.equal(3);
      expect((await sync({ ...part(3), part: 4 })).body.errors[0].pointer).to.equal('/part');
    });

    it('goes on where a bundle was interrupted', async () => {
      const sent = bundle({ entries: Array.from({ length: 60 }, (_, at) => entry(`k${at}`, `Interrupted ${at} ${newId()}`)) });
      usesLeft = 1;
      expect((await sync(sent)).status).to.equal(500);
      usesLeft = Infinity;
      const { data: [run] } = (await call('GET', '/api/discovery-runs?limit=1')).body;
      expect([run.sync.local_run_id, run.counts.candidates]).to.equal([sent.local_run_id, 25]);
      const { status, body } = await sync(sent);
      expect([status, body.duplicate, body.run_id, new Set(body.entry_links.map(({ entity_id: id }: { entity_id: string }) => id)).size]).to.equal([201, false, run.id, 60]);
      expect((await call('GET', `/api/discovery-runs/${run.id}`)).body.counts.candidates).to.equal(60);
    });

    it('rejects callers without the role, the scope or the plan, and stores nothing', async () => {
      const refused = async (as: object) => { const { status, body } = await sync(bundle(), { ...caller, ...as }); return [status, body.code]; };
      expect(await refused({ workspace_role: 'member' })).to.equal([403, 'workspace_forbidden']);
      expect(await refused({ workspace_id: null, workspace_role: null })).to.equal([403, 'workspace_forbidden']);
      expect(await refused({ scope: ['discovery:read'] })).to.equal([403, 'insufficient_scope']);
      expect(await refused({ capabilities: [], plan: 'free' })).to.equal([403, 'plan_required']);
      expect((await kit.request('POST', SYNCS, { payload: bundle() })).status).to.equal(401);
      expect((await sync(bundle({ links: { list_id: newId() } }))).body.errors[0].pointer).to.equal('/links');
    });

    it('points at what is wrong in a bundle, and then stores nothing', async () => {
      const [good, ...bad] = [entry('e1', `Fine ${newId()}`), { ...entry('e2', 'Bad place'), claims: [...entry('e2', 'Bad place').claims, { property: 'place', value: 'nowhere-at-all', source_local_id: 's1' }] }];
      const cases: [string, object][] = [
        ['/entries/1/claims/1/value', { entries: [good, ...bad] }],
        ['/entries/0/claims/0/source_local_id', { sources: [] }],
        ['/entries/1/local_id', { entries: [good, good] }],
        ['/entries/0/name', { entries: [{ ...good, name: 'Another name' }] }],
        ['/entries/0/claims/1/value', { entries: [entry('e', 'Bad site', [website('javascript:alert(1)')])] }],
        ['/entries/0/decision', { entries: [{ ...good, decision: 'pending' }] }],
        ['/entries/0/claims', { entries: [{ ...good, claims: Array.from({ length: 101 }, () => good!.claims[0]) }] }],
        ['/entries/0/name', { entries: [{ ...good, name: 'a\0b' }] }],
        ['/sources/1/retrieved_at', { sources: [source('unused'), source('s1', { retrieved_at: '2999-01-01T00:00:00Z' })] }],
        ['/issue_areas/0', { issue_areas: ['no_such_area'] }],
        ['/started_at', { started_at: '2999-01-01T00:00:00Z' }],
        ['/tool', { tool: undefined }],
        ['/entries', { entries: {} }],
        ['/entries', { entries: Array.from({ length: 501 }, (_, at) => entry(`e${at}`, `Name ${at}`)) }],
        ['/lnks', { lnks: {} }],
      ];
      for (const [pointer, more] of cases) {
        const sent = bundle({ entries: [good], ...more });
        const { status, body } = await sync(sent);
        expect([status, body.errors?.[0]?.pointer], JSON.stringify(body)).to.equal([400, pointer]);
      }
      const runs = (await call('GET', '/api/discovery-runs?limit=100')).body.data;
      expect(runs.filter(({ location }: { location: string }) => location === 'Gladstone, MO').every(({ counts }: { counts: { candidates: number } }) => counts.candidates > 0)).to.equal(true);
    });

    it('takes a compressed body, a bundle without entries, and an entry whose claims do not state its name', async () => {
      const nameless = { ...entry('e1', `Named by its entry ${newId()}`), claims: [{ ...website('https://nameless.example/'), method: 'structured' }, { property: 'phone', value: '+1 816 555 0142', source_local_id: 's1' }] };
      const payload = gzipSync(JSON.stringify(bundle({ entries: [nameless] })));
      const { status, body } = await kit.request('POST', SYNCS, { as: caller as never, payload, headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } });
      expect(status, JSON.stringify(body)).to.equal(201);
      const { name, claims } = await actor(body.entry_links[0].entity_id);
      expect(name).to.equal(nameless.name);
      expect(Object.fromEntries(claims.map(({ property, method }: { property: string; method: string }) => [property, method]))).to.equal({ type: 'structured', name: 'structured', website: 'structured', phone: 'rules' });
      const empty = await sync(bundle({ entries: [], sources: [] }));
      expect([empty.status, empty.body.entries_persisted, empty.body.review_state]).to.equal([201, 0, 'unreviewed']);
    });

    it('limits the entries of a workspace in a month, and the bundles that it sends at the same time', async () => {
      const busy = { ...caller, workspace_id: newId() };
      let open = () => {};
      gate = new Promise((done) => { open = done; });
      const sent = [1, 2, 3].map(() => sync(bundle(), busy));
      const refused = await Promise.race(sent);
      open();
      expect((await Promise.all(sent)).map(({ status }) => status).sort()).to.equal([201, 201, 429]);
      expect([refused.body.code, refused.headers['retry-after']]).to.equal(['too_many_syncs', '5']);
      // Two runs with an entry each.
      expect((await kit.db.read('discovery_months').where({ workspace_id: busy.workspace_id }).first('synced', 'runs'))).to.equal({ synced: 4, runs: 0 });
      await kit.db.write((tx) => tx('discovery_months').where({ workspace_id: busy.workspace_id }).update({ synced: 19_998 }));
      const two = bundle({ entries: [entry('a', `Last ${newId()}`), entry('b', `Over ${newId()}`)] });
      const over = await sync(two, busy);
      expect([over.status, over.body.code, over.headers['x-ratelimit-limit']]).to.equal([429, 'sync_limit', '20000']);
      expect((await call('GET', '/api/discovery-runs', undefined, busy)).body.total).to.equal(2);
      expect((await sync({ ...two, entries: two.entries.slice(0, 1) }, busy)).status).to.equal(201);
    });

    it('rejects bodies that are no JSON object, too deep, too large or of another type', async () => {
      const raw = (payload: string, headers: object = {}) => kit.request('POST', SYNCS, { as: caller as never, payload, headers: { 'content-type': 'application/json', ...headers } });
      const text = JSON.stringify(bundle());
      for (const broken of ['', '[]', 'null', '{', text.slice(0, -1), `${text}x`, text.replace('"entries":[', '"entries":[,'), text.replace('"sources"', '"entries"'), `{"__proto__":{},${text.slice(1)}`, text.replace('"decision"', '"__proto__":{},"decision"'), text.replace('"name"', "'name'"), text.replace('"location":', '"location"'), `{${'"a":['.repeat(1)}${'['.repeat(200)}${']'.repeat(200)}]}`]) {
        const { status, body } = await raw(broken);
        expect([status, ['malformed_body', 'invalid_request'].includes(body.code)], broken.slice(0, 60)).to.equal([400, true]);
      }
      expect((await raw(text, { 'content-type': 'text/plain' })).status).to.equal(415);
      expect((await raw(text, { 'content-encoding': 'gzip' })).status).to.equal(400);
      const filled = (length: number) => `${' '.repeat(length - text.length)}${text}`;
      const most = 32 * 1024 * 1024;
      const large = await raw(filled(most + 1));
      expect([large.status, large.body.code]).to.equal([413, 'body_too_large']);
      expect((await raw(filled(most))).status).to.equal(201);
      expect((await raw(text.replace('"tool"', `"location":${JSON.stringify('x'.repeat(1_100_000))},"tool"`))).body.code).to.equal('invalid_request');
    });
  });
}
