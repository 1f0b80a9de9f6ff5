import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { until } from '../../core/test/wait.ts';
import { joinWorkspace, runCommand } from '../../plugins/accounts/test/kit.ts';
import { pageReader, type PageReader } from '../../plugins/accounts/test/reader.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const meeting = (id: number, more: object = {}) => ({ EventId: id, EventGuid: `E${id}`, EventBodyName: `Committee ${id}`, EventDate: '2030-02-10T00:00:00', EventTime: '6:00 PM', EventLocation: 'City Hall', EventItems: [], ...more });

for (const database of testDatabases()) {
  describe(`The sources of a workspace on its pages (${database})`, { timeout: 60_000 }, () => {
    type Member = PageReader & { id: string; key: string; workspace_id: string };
    let kit: TestServer;
    let site: Site;
    let [ada, bob, eve] = [] as unknown as [Member, Member, Member];
    let home: string;
    let calendar: string;

    async function signedIn(name: string, plan: string): Promise<Member> {
      const { id, sign_in_link } = await runCommand(kit, 'account create', { name, plan, role: 'user' }, []);
      const reader = pageReader(kit);
      await reader.follow(sign_in_link);
      const { key, workspace_id } = await runCommand(kit, 'key create', { account: id }, []);
      return Object.assign(reader, { id, key, workspace_id });
    }

    before(async () => {
      site = await openSite({ '/v1/city/events': JSON.stringify(Array.from({ length: 12 }, (_, index) => meeting(index + 1))) });
      kit = await testServer({
        database, plugins: ['accounts', 'directory', 'firehose', 'reader', 'workspaces', 'ingest', 'site'],
        // At an IP address a sign-in link begins a full session, without a passkey.
        config: { public_url: 'http://192.0.2.7', http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0 } } },
      });
      [ada, bob, eve] = [await signedIn('Ada', 'team'), await signedIn('Bob', 'individual'), await signedIn('Eve', 'team')];
      const { id } = (await kit.request('POST', '/api/workspaces', { payload: { name: 'Newsroom' }, headers: { 'x-api-key': ada.key } })).body;
      home = `/workspaces/${id}/sources`;
      await joinWorkspace(kit, { owner: ada.key, member: eve.key, member_id: eve.id, path: `/api/workspaces/${id}`, role: 'member' });
      await runCommand(kit, 'account set-plan', { account: eve.id, plan: 'free' }, []);
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('have a card and an entry in the navigation of the workspace', async () => {
      const overview = (await ada.get(home.replace('/sources', ''))).text;
      expect(overview).to.contain(`<h2><a href="${home}">Watched sources</a></h2>`).and.contain('Follow public calendars, feeds and pages.');
      expect(overview.indexOf(`<li><a href="${home}">`)).to.be.between(0, overview.indexOf('/usage">'));
      const page = await ada.get(home);
      expect(page.headers['cache-control']).to.equal('private, no-store');
      expect(page.text).to.contain([`<a href="${home}" aria-current="page">Watched sources</a>`, 'Newsroom. Only members of this workspace see what is here.', 'No source is watched yet.', 'Watches of the place then find the signals.']).and.not.contain('/console/');
      expect(page.text.match(/\/assets\/[^"]*look[^"]*\.css/g), 'the style sheets of both plugins').to.have.length(2);
    });

    it('are added by an address, of which the first ten rows are shown', async () => {
      expect((await ada.post(home, { url: `${site.url}/gone`, place: '', name: '' })).text).to.contain(['The source cannot be read.', '<p class="error reported" lang="en">', 'responded with the status 404.']);
      const added = await ada.post(home, { url: `${site.url}/v1/city/events`, place: 'St. Louis, Missouri', name: 'City calendar' });
      expect(added.status, added.text).to.equal(200);
      expect(added.text).to.contain(['The source is watched.', '12 rows were found', 'Legistar Web API']);
      expect(added.text.match(/Committee \d+</g)).to.have.length(10);
      calendar = new RegExp(`action="(${home}/[\\w-]{36})"`).exec(added.text)![1]!;
      await until(async () => !(await ada.get(calendar)).text.includes('It was not read yet.'));
      const shown = (await ada.get(calendar)).text;
      expect(shown).to.contain(['Healthy', 'Newest rows', 'Sun, Feb 10, 6:00 PM CST', '12 added, 0 changed, 0 gone', '<rect class="read"', 'Only members of this workspace see its signals.']).and.not.contain('feed.atom').and.not.contain('The source is watched.');
      expect((await ada.get(home)).text).to.contain([`href="${calendar}"`, '12 rows, every hour', '1 of 500 watched sources of your plan are in use.']);
      expect((await ada.get(home.replace('/sources', ''))).text).to.contain('1 source<');
      expect((await ada.post(home, { url: `${site.url}/v1/city/events`, place: '', name: '' })).text).to.contain('This address is watched already.');
    });

    it('do not exist for other accounts, in other workspaces, and without the token of a form', async () => {
      const asked = await pageReader(kit).get(home);
      expect([asked.status, asked.headers['location']]).to.equal([303, `/sign-in?next=${encodeURIComponent(home)}`]);
      const elsewhere = `/workspaces/${bob.workspace_id}/sources/${calendar.split('/').at(-1)}`;
      for (const path of [home, calendar, `${home}/import`, `${home}/sources.opml`, elsewhere]) expect((await bob.get(path)).status, path).to.equal(404);
      for (const path of [home, calendar, elsewhere]) expect((await bob.post(path, { act: 'delete', url: site.url, place: '', name: '' })).status, path).to.equal(404);
      expect((await bob.post(`${home}/import`, { list: site.url })).status).to.equal(404);
      await ada.get(home);
      expect((await ada.post(calendar, { act: 'delete', form_token: 'other' })).status).to.equal(403);
      expect((await ada.get(calendar)).status).to.equal(200);
    });

    it('publish signals that members alone see', async () => {
      const signals = async (key: string | null) => (await kit.request('GET', '/api/firehose?signal_type=public_meeting', key === null ? {} : { headers: { 'x-api-key': key } })).text;
      const { key } = await runCommand(kit, 'key create', { account: ada.id, workspace: home.split('/')[2] }, []);
      expect(await signals(key)).to.contain('Committee 1');
      expect(await signals(bob.key)).to.not.contain('Committee 1');
      for (const path of ['/signals', '/places/st-louis,missouri', '/places/st-louis,missouri/sources']) expect((await bob.get(path)).text, path).to.not.contain('Committee').and.not.contain('City calendar');
    });

    it('are tested, edited, paused and resumed', async () => {
      site.pages['/v1/city/events'] = JSON.stringify([meeting(77)]);
      const tested = (await ada.post(calendar, { act: 'test' })).text;
      expect(tested).to.contain(['One row was found', 'Committee 77']);
      expect((await ada.get(calendar)).text, 'a test stores nothing').to.not.contain('Committee 77');
      site.pages['/v1/city/events'] = (_request, response) => { response.writeHead(500).end(); };
      expect((await ada.post(calendar, { act: 'test' })).text).to.contain(['role="alert"', 'The source cannot be read.', 'responded with the status 500.']);

      const form = { act: 'edit', name: 'Council', url: `${site.url}/v1/city/events`, place: 'St. Louis, MO', cadence: '86400' };
      const saved = await ada.post(calendar, form);
      expect(saved.headers['location'], saved.text).to.equal(`${calendar}?done=saved`);
      expect((await ada.get(`${calendar}?done=saved`)).text).to.contain(['The changes are saved.', '<h1>Council</h1>', 'every day', '<option value="86400" selected>']);
      expect((await ada.post(calendar, { ...form, cadence: '' })).status).to.equal(303);
      expect((await ada.get(calendar)).text).to.contain('<option value="" selected>as usual: every hour</option>');
      const wrong = await ada.post(calendar, { ...form, name: '', place: 'Nowhere at all', url: 'calendar' });
      expect(wrong.status).to.equal(400);
      expect(wrong.text).to.contain(['Enter a name.', 'Enter the whole address', 'value="Nowhere at all"', '<details class="fold" open>']);
      expect((await ada.post(calendar, { ...form, place: 'Nowhere at all' })).text).to.contain('No place has this name for certain.');
      expect((await ada.post(calendar, { ...form, cadence: '1' })).status).to.equal(400);

      await ada.post(calendar, { act: 'pause' });
      expect((await ada.get(calendar)).text).to.contain(['Paused', 'Resume']);
      await ada.post(calendar, { act: 'resume' });
      expect((await ada.get(calendar)).text).to.contain('value="pause"');
      expect((await ada.post(calendar, { act: 'ignore', passage: 'Opening hours' })).headers['location']).to.equal(`${calendar}?done=ignored`);
      expect((await ada.get(calendar)).text).to.contain(['Ignored passages', 'Opening hours']);
      expect((await ada.post(calendar, { act: 'report', passage: ['a', 'b'] })).status).to.equal(400);
    });

    it('are added in a list, and exported', async () => {
      const report = await ada.post(`${home}/import`, { list: `${site.url}/one\nnothing\n${site.url}/v1/city/events` });
      expect(report.text).to.contain(['One source was added. One is watched already. One was rejected:', '2 of 500 watched sources']);
      const file = await ada.get(`${home}/sources.opml`);
      expect(file.text).to.contain(`${site.url}/one`);
      expect(file.headers['cache-control']).to.equal('private, no-store');
      const other = /href="([^"]*sources\/[\w-]{36})">127\.0\.0\.1/.exec((await ada.get(home)).text)![1]!;
      const edited = await ada.post(other, { act: 'edit', name: 'One', url: `${site.url}/v1/city/events`, place: '', cadence: '' });
      expect([edited.status, edited.text.includes('This address is watched already.')]).to.equal([409, true]);
      const changed = await kit.request('PATCH', `/api/watched-sources/${other.split('/').at(-1)}`, { payload: { url: `${site.url}/v1/city/events` }, headers: { 'x-api-key': (await runCommand(kit, 'key create', { account: ada.id, workspace: home.split('/')[2] }, [])).key } });
      expect([changed.status, changed.body.code]).to.equal([409, 'source_watched']);
      await ada.post(other, { act: 'delete' });
      expect((await ada.get(`${home}?done=deleted`)).text).to.contain('The source is deleted.').and.contain('1 of 500');
      expect((await ada.get(other)).status).to.equal(404);
    });

    it('state what the plan has: nothing, or no more', async () => {
      const own = (await eve.get(`/workspaces/${eve.workspace_id}/sources`)).text;
      expect(own).to.contain(['Your plan has no watched sources.', 'Plans with more: Individual (20), Research pass (50), Team (500).', 'href="/account/plan"']).and.not.contain('name="url"').and.not.contain('No source is watched yet.');
      expect((await eve.get(`/es/workspaces/${eve.workspace_id}/sources/import`)).text).to.contain('Su plan no incluye fuentes vigiladas.').and.not.contain('<textarea');
      // Eve is a member of the workspace of Ada, whose sources she sees and pauses.
      expect((await eve.get(home)).text).to.contain(['Council', 'Your plan has no watched sources.', 'One source</p>']);
      expect((await eve.post(calendar, { act: 'pause' })).status).to.equal(303);
      const forced = await eve.post(home, { url: `${site.url}/forced`, place: '', name: '' });
      expect([forced.status, forced.text.includes('Your plan has no watched sources.')]).to.equal([429, true]);

      const full = `/workspaces/${bob.workspace_id}/sources`;
      site.pages['/feed.xml'] = '<rss version="2.0"><channel><title>News</title><item><guid>1</guid><title>One</title></item></channel></rss>';
      expect((await bob.post(full, { url: `${site.url}/feed.xml`, place: '', name: '' })).text).to.contain('watches of a place or an issue do not find what changes');
      await kit.db.write((tx) => tx('ingest_totals').where({ workspace_id: bob.workspace_id }).update({ total: 20 }));
      expect((await bob.get(full)).text).to.contain(['News', 'All 20 watched sources of your plan are in use.', 'Plans with more: Research pass (50), Team (500).', 'Delete a source to add another.']).and.not.contain('name="url"');
      expect((await bob.get(`${full}/import`)).text).to.contain('All 20 watched sources of your plan are in use.');
    });

    it('are not read or changed by a member who left', async () => {
      await kit.request('DELETE', `/api/workspaces/${home.split('/')[2]}/members/${eve.id}`, { headers: { 'x-api-key': ada.key } });
      expect((await eve.get(calendar)).status).to.equal(404);
      expect((await eve.post(calendar, { act: 'resume' })).status).to.equal(404);
    });
  });
}
