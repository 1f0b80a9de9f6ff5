import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from '../../core/ids.ts';
import { definePlugin, type Civic } from '../../core/index.ts';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { until } from '../../core/test/wait.ts';
import { joinWorkspace, runCommand } from '../../plugins/accounts/test/kit.ts';
import { pageReader, type PageReader } from '../../plugins/accounts/test/reader.ts';
import type { Finding } from '../../plugins/discovery/service.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let whole: Civic;
const finder = definePlugin({ name: 'finder', summary: 'Proposes actors, for tests', needs: ['discovery'], register: (_server, civic) => ({ async start() { whole = civic; } }) });

const STAFF = `<html><head><title>Our staff</title></head><body><h1>Our staff</h1><p>The Riverbend Tenants Union works for renters in Gladstone.</p>
  <ul><li><h3>Maria Delgado</h3><p>Executive Director</p><a href="mailto:maria@riverbend.example">maria@riverbend.example</a></li><li><h3>Thomas Okafor</h3><p>Lead Organizer</p></li><li><h3>Susan Whitfield</h3><p>Board President</p></li></ul></body></html>`;
const FORM = { location: 'Gladstone, MO', 'issue_areas[]': 'housing_affordability', depth: 'standard', seeds: '' };

for (const database of testDatabases()) {
  describe(`The pages of discovery on ${database}`, { timeout: 90_000 }, () => {
    type Member = PageReader & { id: string; key: string };
    let kit: TestServer;
    let site: Site;
    let [ada, bob, eve, root] = [] as unknown as [Member, Member, Member, Member];
    let workspace: string;
    let home: string;
    let run: string;

    async function signedIn(name: string, plan: string, role = 'user'): Promise<Member> {
      const { id, sign_in_link } = await runCommand(kit, 'account create', { name, plan, role }, []);
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      const { key } = await runCommand(kit, 'key create', { account: id }, []);
      return Object.assign(reader, { id, key });
    }
    const linked = (text: string, name: string) => new RegExp(`href="([^"]*/candidates/[\\w-]{36})">${name}<`).exec(text)![1]!;
    const opened = async (name: string, decision = 'pending') => linked((await ada.get(`${run}?decision=${decision}`)).text, name);
    /** Follows the redirect after a form. */
    const sent = async (path: string, fields: Record<string, string | string[]>, by = ada) => {
      const response = await by.post(path, fields);
      expect(response.status, response.text).to.equal(303);
      return by.get(response.headers['location'] as string);
    };
    /** Proposes an actor as another plugin does; with null as a run of the operator. */
    async function proposed(workspaceId: string | null, finding: Partial<Finding> & Pick<Finding, 'claims'>): Promise<string> {
      const source = newId();
      await whole.db.write((tx) => whole.service('discovery').propose(tx, { type: 'watched_source', id: source, workspace_id: workspaceId, account_id: null, location: 'City calendar', place_key: null, issue_areas: [] }, [{ type: 'organization', score: 0.8, sources: [{ local_id: 's', url: 'https://city.example/board' }], ...finding }]));
      return (await kit.db.read('discovery_runs').where({ origin_id: source }).first('id')).id as string;
    }

    before(async () => {
      site = await openSite({ '/staff': STAFF });
      kit = await testServer({
        database, plugins: ['accounts', 'console', 'directory', 'firehose', 'reader', 'workspaces', 'discovery', 'site', finder],
        // At an IP address a sign-in link begins a full session, without a passkey.
        config: { public_url: 'http://192.0.2.7', http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false } } },
      });
      root = await signedIn('Root', 'team', 'admin');
      [ada, bob, eve] = [await signedIn('Ada', 'team'), await signedIn('Bob', 'individual'), await signedIn('Eve', 'team')];
      workspace = (await kit.request('POST', '/api/workspaces', { payload: { name: 'Newsroom' }, headers: { 'x-api-key': ada.key } })).body.id as string;
      home = `/workspaces/${workspace}/discovery`;
      await joinWorkspace(kit, { owner: ada.key, member: eve.key, member_id: eve.id, path: `/api/workspaces/${workspace}`, role: 'member' });
      await runCommand(kit, 'account set-plan', { account: eve.id, plan: 'free' }, []);
      await kit.request('POST', '/api/entities', {
        headers: { 'x-api-key': root.key }, payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://city.example/people' }], claims: [{ property: 'name', value: 'Maria Delgado', source_local_id: 's' }, { property: 'place', value: 'gladstone,missouri', source_local_id: 's' }] },
      });
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('explain how to begin, on the overview and on an empty list', async () => {
      expect((await ada.get(`/workspaces/${workspace}`)).text).to.contain([`<h2><a href="${home}">Discovery</a></h2>`, 'Find entries that the directory does not have yet.']);
      expect((await ada.get(home)).text).to.contain(['There are no runs yet.', 'Start the run', '0 of 500 runs of your plan are used this month.']);
      expect((await eve.get(home)).text).to.contain('Your plan has no discovery runs.').and.not.contain('Start the run');
      expect((await eve.post(home, FORM)).status).to.equal(429);
    });

    it('state what is wrong beside the fields, and keep what was typed', async () => {
      const empty = await ada.post(home, { location: ' ', depth: 'deep', seeds: 'https://a.example/\nnot an address' });
      expect(empty.status).to.equal(400);
      expect(empty.text).to.contain(['Enter a place.', 'Choose at least one issue.', 'not an address</textarea>', '<option value="deep" selected>']);
      const place = await ada.post(home, { ...FORM, location: 'Springfield' });
      expect(place.status).to.equal(400);
      expect(place.text).to.contain(['No place has this name for certain.', 'Did you mean:', 'value="Springfield"', 'value="housing_affordability" checked']);
      expect((await ada.post(home, { ...FORM, seeds: 'https://a.example/\nstaff' })).text).to.contain('Line 2 is not the whole address of a web page');
      expect((await ada.post(home, { ...FORM, seeds: 'https://user:word@a.example/' })).text).to.contain('This address cannot be read: https://user:word@a.example/');
      expect((await ada.post(home, { ...FORM, location: 'a\u0000b' })).status).to.equal(400);
      expect(await kit.db.read('discovery_runs').first('id')).to.be.undefined();
    });

    it('start a run, show its progress, its pages and its candidates', async () => {
      const started = await ada.post(home, { ...FORM, seeds: `${site.url}/staff` });
      run = started.headers['location'] as string;
      expect(started.status, started.text).to.equal(303);
      const first = (await ada.get(run)).text;
      if (!first.includes('Completed')) expect(first).to.contain([`data-events="${run}/events"`, '<progress', 'Cancel the run']);
      const events = await ada.get(`${run}/events`, { accept: 'text/event-stream' });
      expect([events.status, events.headers['content-type']]).to.equal([200, 'text/event-stream; charset=utf-8']);
      expect(events.text).to.match(/event: completed\ndata: \{.*"status":"completed"/);
      const { text } = await ada.get(run);
      expect(text).to.contain(['Completed', 'Maria Delgado', 'May be the known entry Maria Delgado', 'Thomas Okafor', 'Housing Affordability', 'name="candidate[]"', 'Keyboard shortcuts']).and.not.contain('<progress');
      expect((await ada.get(home)).text).to.contain([`href="${run}"`, 'wait for review</strong>', '1 of 500 runs of your plan']);
      expect((await ada.get(`${run}/sources`)).text).to.contain(['Read</span>', `href="${site.url}/staff"`, 'findings']);
      expect((await ada.get(`/es${run}`)).text).to.contain(['Terminada', 'Por revisar', 'Puede ser la ficha conocida']);
    });

    it('show a candidate with its passages, the archived page, and the known entry side by side', async () => {
      const path = await opened('Maria Delgado');
      const { text } = await ada.get(path);
      expect(text).to.contain(['<mark>Maria Delgado</mark>', 'Archived page', `href="${site.url}/staff"`, 'What was found, and where', 'Known entry', 'Merge into Maria Delgado', 'maria@riverbend.example', 'not stated', 'Gladstone']);
      const archived = await ada.get(/href="([^"]*\/archived\/[^"#]*)#/.exec(text)![1]!);
      expect(archived.text).to.contain(['<mark id="passage">', 'Maria Delgado', 'Executive Director']);
      expect((await ada.get(`${path}/archived/none`)).status).to.equal(404);
    });

    it('show no archived page for the hash that a local tool states', async () => {
      const { content_hash } = await kit.db.read('discovery_pages').whereNotNull('content_hash').first('content_hash');
      const { status, body } = await kit.request('POST', '/api/discovery-runs/syncs', { headers: { 'x-api-key': ada.key, 'x-workspace-id': workspace }, payload: {
        tool: { name: 'scout', version: '1.0.0' }, local_run_id: newId(), location: '', issue_areas: [], sources: [{ local_id: 's', url: 'https://elsewhere.example/', text_hash: content_hash }],
        entries: [{ local_id: 'e', type: 'organization', name: 'Spoofed Archive Society', claims: [{ property: 'name', value: 'Spoofed Archive Society', source_local_id: 's' }] }],
      } });
      expect(status, JSON.stringify(body)).to.equal(201);
      const { id } = await kit.db.read('discovery_candidates').where({ name: 'Spoofed Archive Society' }).first('id');
      const path = `${home}/${body.run_id}/candidates/${id}`;
      const shown = await ada.get(path);
      expect([shown.status, shown.text.includes('/archived/'), (await ada.get(`${path}/archived/s`)).status]).to.equal([200, false, 404]);
    });

    it('accept, and lead to the next candidate, from where the decision is undone', async () => {
      const path = await opened('Thomas Okafor');
      const next = await sent(path, { act: 'accept', note: 'Known to us' });
      expect(next.text).to.contain(['Thomas Okafor is accepted.', 'value="undo"', 'What was found, and where']).and.not.contain('<h1>Thomas Okafor</h1>');
      expect((await ada.get(path)).text).to.contain(['Accepted', 'Private entry', 'Known to us']).and.not.contain('value="accept"');
      const again = await ada.post(path, { act: 'reject' });
      expect(again.status).to.equal(409);
      expect(again.text).to.contain('Someone has decided about this candidate already.');
      expect((await sent(path, { act: 'undo' })).text).to.contain(['The decision is undone.', 'value="accept"']);
      expect((await ada.post(path, { act: 'undo' })).text).to.contain('The decision was undone already.');
      expect((await ada.post(path, { act: 'publish' })).status).to.equal(400);
    });

    it('merge into the known entry, or into one that is searched', async () => {
      const path = await opened('Maria Delgado');
      const found = await ada.get(`${path}?find=${encodeURIComponent('Maria Delgado')}`);
      const into = /name="into" value="([\w-]{36})" aria-label="Merge into Maria Delgado"/.exec(found.text)![1]!;
      expect((await ada.get(`${path}?find=${into}`)).text).to.contain(`name="into" value="${into}" aria-label`);
      expect((await ada.get(`${path}?find=nobody+of+this+name`)).text).to.contain('No entry was found.');
      expect((await ada.post(path, { act: 'merge', into: newId() })).text).to.contain('The entry to merge into was not found.');
      expect((await ada.post(path, { act: 'merge', into: '' })).status).to.equal(400);
      expect((await sent(path, { act: 'merge', into })).text).to.contain('Maria Delgado is merged.');
      expect((await ada.get(path)).text).to.contain(`<a href="/actors/${into}">Maria Delgado</a>`);
      await sent(path, { act: 'undo' });
    });

    it('correct a candidate, unless it was changed in the meantime', async () => {
      const path = await opened('Susan Whitfield');
      const { text } = await ada.get(path);
      const version = /name="version" value="([^"]*)"/.exec(text)![1]!;
      const keep = [...text.matchAll(/name="keep\[\]" value="(\d+)"/g)].map(([, at]) => at!);
      expect((await ada.post(path, { act: 'edit', version: 'older', type: 'person', name: 'Susan B. Whitfield', 'keep[]': keep })).text).to.contain(['in the meantime', 'value="Susan B. Whitfield"']);
      expect((await ada.post(path, { act: 'edit', version, type: 'person', name: ' ', 'keep[]': keep })).text).to.contain('Enter a name.');
      expect((await ada.post(path, { act: 'edit', version, type: 'person', name: 'Susan', 'keep[]': keep, property: 'place', value: 'Nowhere at all' })).text).to.contain('No place has this name for certain.');
      const saved = await sent(path, { act: 'edit', version, type: 'person', name: 'Susan B. Whitfield', 'keep[]': [], property: 'phone', value: '+1 816 555 0100', source: '' });
      expect(saved.text).to.contain(['The corrections are saved.', '<h1>Susan B. Whitfield</h1>', '+1 816 555 0100']).and.not.contain('Board President</p>');
    });

    it('decide about selected candidates, and filter by decision', async () => {
      const ids = await Promise.all(['Thomas Okafor', 'Susan B. Whitfield'].map(async (name) => (await opened(name.replace('.', '\\.'))).split('/').at(-1)!));
      expect((await sent(`${run}/candidates`, { act: 'reject' })).text).to.contain('Select candidates first.');
      expect((await sent(`${run}/candidates`, { act: 'reject', 'candidate[]': [...ids, newId()] })).text).to.contain('2 candidates were rejected. 1 could not be decided; open it to see why.');
      expect((await ada.get(`${run}?decision=rejected`)).text).to.contain(['Thomas Okafor', 'Susan B. Whitfield']).and.not.contain('name="candidate[]"');
      const decided = (await ada.get(`${run}?done=rejected&count=2`)).text;
      expect(decided).to.not.contain('Thomas Okafor</a>');
      expect((await ada.get(`${run}?done=<b>&count=<i>&last=<u>`)).text).to.not.contain('<b>').and.not.contain('<u>');
    });

    it('are read by members, who do not decide', async () => {
      const path = await opened('Maria Delgado');
      const { text } = await eve.get(path);
      expect(text).to.contain('Reviewers, administrators and owners of the workspace decide').and.not.contain('name="act"');
      expect((await eve.get(run)).text).to.not.contain('name="candidate[]"');
      expect((await eve.post(path, { act: 'accept' })).status).to.equal(403);
      expect((await eve.post(path, { act: 'edit', version: '', type: 'person', name: 'Other' })).status).to.equal(403);
      expect((await eve.post(`${run}/candidates`, { act: 'accept', 'candidate[]': path.split('/').at(-1)! })).status).to.equal(403);
      expect((await ada.get(path)).text).to.contain('value="accept"');
    });

    it('do not exist for other accounts and in other workspaces, and need the token of a form', async () => {
      const path = await opened('Maria Delgado');
      const own = (await kit.request('GET', '/api/workspaces', { headers: { 'x-api-key': bob.key } })).body.data[0].id as string;
      const elsewhere = [home, run, path].map((one) => one.replace(workspace, own)).slice(1);
      for (const one of [home, run, `${run}/events`, `${run}/sources`, path, `${path}/archived/s`, ...elsewhere]) expect((await bob.get(one)).status, one).to.equal(404);
      for (const one of [home, `${run}/cancel`, `${run}/candidates`, path, ...elsewhere.slice(1)]) expect((await bob.post(one, { ...FORM, act: 'accept', 'candidate[]': newId() })).status, one).to.equal(404);
      const anonymous = await pageReader(kit).get(run);
      expect([anonymous.status, anonymous.headers['location']]).to.equal([303, `/sign-in?next=${encodeURIComponent(run)}`]);
      for (const one of [home, `${run}/cancel`, `${run}/candidates`, path]) expect((await ada.post(one, { ...FORM, form_token: 'forged', act: 'accept' })).status, one).to.equal(403);
    });

    it('show what pages state as text, and link only addresses of web pages', async () => {
      const id = await proposed(workspace, {
        sources: [{ local_id: 's', url: 'https://city.example/board', title: '<img src=x onerror=alert(1)>' }],
        claims: [{ property: 'name', value: '<script>alert(1)</script> Union', source_local_id: 's', excerpt: 'The <script>alert(1)</script> Union & friends' }, { property: 'description', value: '<b>bold</b>', source_local_id: 's' }, { property: 'social', value: { network: 'x', url: 'https://x.example/"onmouseover="alert(1)' }, source_local_id: 's' }],
      });
      // What an older version may have stored.
      const row = await kit.db.read('discovery_candidates').where('name', 'like', '%Union').where({ workspace_id: workspace }).whereLike('name', '<script>%').first();
      const claims = [...JSON.parse(row.claims), { property: 'website', value: 'javascript:alert(1)', source_local_id: 's' }];
      const sources = JSON.parse(row.sources).map((source: object) => ({ ...source, url: 'javascript:alert(2)' }));
      await kit.db.write((tx) => tx('discovery_candidates').where({ key: row.key }).update({ claims: JSON.stringify(claims), sources: JSON.stringify(sources) }));
      for (const path of [home, `${home}/${id}`, `${home}/${id}/candidates/${row.id}`]) {
        const { text } = await ada.get(path);
        expect(text, path).to.not.contain('<script>alert').and.not.contain('<img src=x').and.not.contain('<b>bold').and.not.contain('href="javascript').and.not.contain('"onmouseover');
      }
      expect((await ada.get(`${home}/${id}/candidates/${row.id}`)).text).to.contain('javascript:alert(1)');
    });

    it('cancel a run that is not finished, and nothing else', async () => {
      const { id } = (await kit.request('POST', '/api/discovery-runs', { payload: { location: 'Fargo, North Dakota', issue_areas: ['housing_affordability'] }, headers: { 'x-api-key': (await runCommand(kit, 'key create', { account: ada.id, workspace }, [])).key } })).body;
      await until(async () => (await ada.get(`${home}/${id}`)).text.includes('Completed'));
      expect((await sent(`${home}/${id}/cancel`, {})).text).to.contain(['Completed', 'The run found no candidates.']);
      await kit.db.write((tx) => tx('discovery_runs').where({ id }).update({ status: 'running', job_id: null }));
      expect((await sent(`${home}/${id}/cancel`, {})).text).to.contain('Cancelled');
    });

    it('have the runs of the operator in the console, for reviewers of the instance', async () => {
      const id = await proposed(null, { claims: [{ property: 'name', value: 'Board of Aldermen', source_local_id: 's' }] });
      const page = `/console/discovery/${id}`;
      for (const path of ['/console/discovery', page]) expect((await ada.get(path)).status, path).to.equal(403);
      expect((await ada.get(`${home}/${id}`)).status).to.equal(404);
      expect((await root.get('/console')).text).to.contain('1 candidate waits for review');
      expect((await root.get('/console/discovery')).text).to.contain([`href="${page}"`, 'Watched source', 'City calendar']).and.not.contain(run.split('/').at(-1)!);
      const candidate = linked((await root.get(page)).text, 'Board of Aldermen');
      expect((await sent(candidate, { act: 'accept' }, root)).text).to.contain(['Board of Aldermen is accepted.', 'All candidates of this run are decided.']);
      const started = await root.post('/console/discovery', { ...FORM, seeds: `${site.url}/staff` });
      expect(started.status, started.text).to.equal(303);
      await until(async () => (await root.get(started.headers['location'] as string)).text.includes('Completed'));
      expect((await kit.request('GET', '/api/discovery-runs?visibility=public', { headers: { 'x-api-key': root.key } })).body.data[0]).to.include({ visibility: 'public', location: 'Gladstone, MO' });
    });
  });
}
