import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from '../../core/index.ts';
import { stoppedClock, testServer, type TestServer } from '../../core/testing.ts';
import { joinWorkspace, runCommand } from '../../plugins/accounts/test/kit.ts';
import { pageReader, type PageReader } from '../../plugins/accounts/test/reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('The pages of a workspace', { timeout: 60_000 }, () => {
  let kit: TestServer;
  let ada: PageReader & { id: string; key: string; workspace_id: string };
  let bob: typeof ada;
  let home: string;
  let actor: string;

  async function signedIn(name: string, options: object = {}): Promise<typeof ada> {
    const { id, sign_in_link } = await runCommand(kit, 'account create', { name, plan: 'team', role: 'user', ...options }, []);
    const reader = pageReader(kit);
    await reader.follow(sign_in_link);
    const { key, workspace_id } = await runCommand(kit, 'key create', { account: id }, []);
    return Object.assign(reader, { id, key, workspace_id });
  }

  before(async () => {
    // At an IP address a sign-in link begins a full session, without a passkey.
    kit = await testServer({ plugins: ['accounts', 'directory', 'site', 'workspaces'], clock: stoppedClock('2026-03-01T12:00:00.000Z'), config: { public_url: 'http://192.0.2.7' } });
    [ada, bob] = [await signedIn('Ada'), await signedIn('Bob', { role: 'reviewer' })];
    home = `/workspaces/${ada.workspace_id}`;
    const claims = [['name', 'River Watch'], ['place', 'gladstone,missouri'], ['issue_area', 'housing_affordability']].map(([property, value]) => ({ property, value, source_local_id: 's' }));
    actor = (await kit.request('POST', '/api/entities', { payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/river' }], claims }, headers: { 'x-api-key': bob.key } })).body.id;
  });
  after(() => kit.close());

  it('ask visitors to sign in, and do not exist for other accounts', async () => {
    const asked = await pageReader(kit).get(`${home}/lists`);
    expect([asked.status, asked.headers['location']]).to.equal([303, `/sign-in?next=${encodeURIComponent(`${home}/lists`)}`]);
    expect((await pageReader(kit).get(`/sign-in?next=${encodeURIComponent(home)}`)).text).to.contain('Sign in to open a workspace');
    for (const path of ['', '/lists', '/notes', '/targets', '/usage', `/save?entry=${actor}`]) expect((await bob.get(home + path)).status, path).to.equal(404);
    expect((await bob.post(`${home}/notes`, { text: 'Mine' })).status).to.equal(404);
    expect((await ada.get('/workspaces')).headers['location']).to.equal(home);
  });

  it('save an entry from its page to a list', async () => {
    const anonymous = await pageReader(kit).get(`/actors/${actor}`);
    expect(anonymous.text).to.not.contain('/workspaces');
    expect(anonymous.headers['cache-control']).to.equal('no-cache');
    const page = await ada.get(`/actors/${actor}`);
    expect(page.text).to.contain(`href="/workspaces/save?entry&#x3D;${actor}"`).and.to.contain('Save to a list');
    expect(page.text).to.contain(`href="/workspaces/reviews?entry&#x3D;${actor}"`);
    const led = await ada.get(`/workspaces/save?entry=${actor}`);
    expect(led.headers['location']).to.equal(`${home}/save?entry=${actor}`);
    const form = await ada.get(String(led.headers['location']));
    expect(form.text).to.contain('Save River Watch');
    expect(form.headers['cache-control']).to.equal('private, no-store');

    const saved = await ada.post(`${home}/save`, { entry: actor, name: 'Groups <b>', note: 'Call first' });
    expect(saved.status, saved.text).to.equal(303);
    const list = String(saved.headers['location']).split('?')[0]!;
    const shown = (await ada.get(`${list}?done=added`)).text;
    expect(shown).to.contain(['Groups &lt;b&gt;', 'Added to this list.', `href="/actors/${actor}"`, 'value="Call first"', '1 entry']);
    expect((await ada.post(`${home}/save`, { entry: actor, list: list.split('/').at(-1)! })).headers['location']).to.contain('?done=known');
    expect((await ada.get(`${home}/save?entry=${actor}`)).text).to.contain('(has it already)');
    const other = await ada.post(`${home}/save`, { entry: actor, list: list.split('/').at(-1)!, name: 'Another' });
    expect((await ada.get(String(other.headers['location']))).text).to.contain('Another');
    expect((await ada.get(`${home}/save?entry=none`)).status).to.equal(404);

    await ada.post(`${list}/items/${actor}`, { note: '' });
    const csv = await ada.get(`${list}/export?format=csv`);
    expect(csv.text).to.contain(`Groups <b>,${actor},River Watch,current,,`);
    expect((await ada.post(list, { name: '' })).text).to.contain('Enter a name.');
    await ada.post(list, { name: 'Groups' });
    expect((await ada.get(`/es${list}`)).text).to.contain(['Todas las listas', '1 ficha']);
    await ada.post(`${list}/items/${actor}/remove`);
    expect((await ada.get(list)).text).to.contain('No entries yet');
    expect((await bob.post(`${list}/delete`)).status).to.equal(404);
    await ada.post(`${list}/delete`);
    expect((await ada.get(list)).status).to.equal(404);
  });

  it('keep notes about an entry, and notes about nothing in particular', async () => {
    const led = await ada.get(`/workspaces/notes?entry=${actor}`);
    expect(led.headers['location']).to.equal(`${home}/notes?about=entity&target=${actor}`);
    await ada.post(`${home}/notes`, { text: '<script>alert(1)</script>', about: 'entity', target: actor });
    await ada.post(`${home}/notes`, { text: 'Free' });
    const about = (await ada.get(`${home}/notes?about=entity&target=${actor}`)).text;
    expect(about).to.contain(['&lt;script&gt;alert(1)', 'River Watch', '1 note', `<h2>About: <a href="/actors/${actor}">River Watch</a>`]).and.to.not.contain('>Free<');
    expect((await ada.post(`${home}/notes`, { text: '' })).text).to.contain('Write something.');
    const again = (await ada.post(`${home}/notes`, { text: '', about: 'entity', target: actor })).text;
    expect(again).to.contain(['Write something.', 'About: <a', `name="target" value="${actor}"`]);
    expect((await ada.post(`${home}/notes`, { text: 'x', about: 'entity', target: 'none' })).text).to.contain('does not exist any more');
    const note = /action="[^"]*\/notes\/([\w-]{36})\/delete"/.exec(about)![1]!;
    await ada.post(`${home}/notes/${note}`, { text: 'Other words' });
    expect((await ada.get(`${home}/notes`)).text).to.contain('Other words');
    await ada.post(`${home}/notes/${note}/delete`);
    expect((await ada.get(`${home}/notes`)).text).to.not.contain('Other words');
  });

  it('show how far a target is, and what was used', async () => {
    const created = await ada.post(`${home}/targets`, { place: 'Gladstone, MO', issue_areas: ['housing_affordability', 'public_transit'], wanted: '1' });
    expect(created.status, created.text).to.equal(303);
    const shown = (await ada.get(`${home}/targets`)).text;
    expect(shown).to.contain(['Gladstone, MO', 'under way', '1 of 1', '0 of 1']);
    const unknown = (await ada.post(`${home}/targets`, { place: 'Nowhere at all', issue_areas: 'public_transit', wanted: '1' })).text;
    expect(unknown).to.contain(['No single place has this name. Add the state', 'value="public_transit" checked']).and.to.not.contain('Nearest');
    expect((await ada.post(`${home}/targets`, { place: 'Gladstone, MO', wanted: '1' })).text).to.contain('Choose an issue.');
    const usage = (await ada.get(`${home}/usage`)).text;
    expect(usage).to.contain(['Records written', 'Exports', 'on a page', 'Ada']);
    expect((await ada.get(home)).text).to.contain(['1 target', 'lines']);
  });

  it('name issues in the language of the page, and report all faults of a brief at once', async () => {
    const form = (await ada.get(`/es${home}/briefs/new`)).text;
    expect(form).to.contain('Vivienda asequible').and.to.not.contain('Housing Affordability');
    const wrong = (await ada.post(`${home}/briefs`, { title: 'Rents', places: 'Nowhere at all', entities: 'nothing', sources: 'none' })).text;
    expect(wrong).to.contain(['“Nowhere at all” names no single place', '“nothing” has no id', '“none” has no id']);
    const created = await ada.post(`${home}/briefs`, { title: 'Rents', places: 'Gladstone, MO', issues: 'housing_affordability' });
    expect(created.status, created.text).to.equal(303);
    expect((await ada.get(`/es${String(created.headers['location'])}`)).text).to.contain('Vivienda asequible').and.to.not.contain('Housing Affordability');
    expect((await ada.get(home)).text).to.contain('1 brief').and.to.not.contain(`${home}/watches`);
  });

  it('start a brief from a list', async () => {
    const saved = await ada.post(`${home}/save`, { entry: actor, name: 'River groups', note: 'Call first' });
    const list = String(saved.headers['location']).split('?')[0]!;
    const id = list.split('/').at(-1)!;
    await ada.post(list, { name: 'River groups', description: 'Who works on the river' });
    expect((await ada.get(list)).text).to.contain(`href="${home}/briefs/new?list=${id}"`).and.to.contain('Start a brief from this list');
    const form = await ada.get(`${home}/briefs/new?list=${id}`);
    expect(form.text).to.contain(['Filled from the list River groups. Nothing is saved yet.', 'name="title" type="text" value="River groups"', '>Who works on the river</textarea>', `>${actor}</textarea>`]);
    expect((await ada.get(`/es${home}/briefs/new?list=${id}`)).text).to.contain('Rellenado a partir de la lista River groups.');
    expect((await ada.get(`${home}/briefs/new?list=${newId()}`)).status).to.equal(404);
    expect((await bob.get(`/workspaces/${bob.workspace_id}/briefs/new?list=${id}`)).status, 'another workspace').to.equal(404);
    await ada.post(`${list}/items/${actor}/remove`);
    expect((await ada.get(list)).text).to.not.contain('briefs/new?list');
    await ada.post(`${list}/delete`);
  });

  it('accept as many places, entries and sources in a brief as the API, and keep what was typed', async () => {
    const ids = (count: number) => Array.from({ length: count }, () => newId()).join('\n');
    const typed = { title: 'Too much', summary: 'Typed for an hour', places: Array.from({ length: 21 }, (_, at) => `Place ${at}`).join('\n'), entities: ids(101), sources: ids(201), 'issues[]': 'housing_affordability' };
    const refused = await ada.post(`${home}/briefs`, typed);
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain(['These are 21 lines. A brief can have at most 20 of them.', 'These are 101 lines. A brief can have at most 100 of them.', 'These are 201 lines. A brief can have at most 200 of them.']);
    expect(refused.text).to.contain(['value="Too much"', 'Typed for an hour', 'Place 20', typed.sources.slice(-36), 'value="housing_affordability" checked']);
    expect((await ada.post(`/es${home}/briefs`, typed)).text).to.contain('Son 21 líneas. Un informe puede tener como máximo 20.');
    const twice = await ada.post(`${home}/briefs`, { ...typed, places: 'Gladstone, MO\n'.repeat(30), entities: `${actor}\n`.repeat(101), sources: '' });
    expect(twice.status, twice.text).to.equal(303);
    const unknown = await ada.post(`${home}/briefs`, { ...typed, places: 'Nowhere at all\nNeither here', entities: '', sources: '', 'issues[]': 'no_such_issue' });
    expect([unknown.status, unknown.text.includes('Typed for an hour')]).to.equal([400, true]);
    expect(unknown.text).to.contain(['“Nowhere at all” names no single place', 'An issue that you chose no longer exists.']).and.to.not.contain('“Neither here”');
  });

  it('save the longest brief that the API takes, as browsers send it', async () => {
    const summary = `${'ñ'.repeat(99)}\n`.repeat(500).slice(0, -1) + '€';
    const saved = await ada.post(`${home}/briefs`, { title: 'Long', summary: summary.replaceAll('\n', '\r\n') });
    expect(saved.status, saved.text).to.equal(303);
    const id = /briefs\/([^?]+)/.exec(String(saved.headers['location']))![1]!;
    const { body } = await kit.request('GET', `/api${home}/briefs/${id}`, { headers: { 'x-api-key': ada.key } });
    expect([body.summary_md.length, body.summary_md === summary]).to.equal([50_000, true]);
    const longer = await ada.post(`${home}/briefs/${id}/edit`, { title: 'Long', summary: `${summary}x` });
    expect([longer.status, longer.text.includes('id="summary-error"')]).to.equal([400, true]);
    expect((await ada.post(`${home}/notes`, { text: 'x'.repeat(70_000) })).status, 'other forms').to.equal(413);
  });

  it('lead from a new workspace to its records', async () => {
    const made = await ada.post('/account/workspaces', { name: 'Newsroom' });
    const path = String(made.headers['location']).split('?')[0]!;
    const id = path.split('/').at(-1)!;
    expect((await ada.get(path)).text).to.contain(`href="/workspaces/${id}"`);
    expect((await ada.get('/workspaces')).headers['location']).to.equal(`/workspaces/${id}`);
    await ada.post('/account/workspaces/choose', { workspace: ada.workspace_id, next: '/account/workspaces' });
  });

  it('list the reviews, and let reviewers write them', async () => {
    expect((await ada.post(`${home}/reviews`, { entry: 'nothing', status: 'in_review' })).text).to.contain('No entry has this address or id.');
    const created = await ada.post(`${home}/reviews`, { entry: `http://192.0.2.7/actors/${actor}`, status: 'in_review', note: 'Call <them>' });
    expect([created.status, created.headers['location']], created.text).to.equal([303, `${home}/reviews?done=created`]);
    const shown = (await ada.get(`${home}/reviews`)).text;
    expect(shown).to.contain(['1 review', `href="/actors/${actor}"`, 'River Watch', '<span class="tag">In review</span>', 'Call &lt;them&gt;', 'Status set on']);
    expect((await ada.get(`/es${home}/reviews`)).text).to.contain(['Revisiones', '<span class="tag">En revisión</span>']);
    expect((await ada.post(`${home}/reviews`, { entry: actor, status: 'confirmed' })).status).to.equal(409);
    const led = await ada.get(`/workspaces/reviews?entry=${actor}`);
    expect(led.headers['location']).to.equal(`${home}/reviews?entry=${actor}`);
    const about = (await ada.get(String(led.headers['location']))).text;
    expect(about).to.contain([`About: <a href="/actors/${actor}">River Watch</a>`, 'All reviews', '<span class="tag">In review</span>', '<details class="fold" open>']).and.to.not.contain('Add the review');
    const unreviewed = (await ada.get(`${home}/reviews?entry=${newId()}`)).text;
    expect(unreviewed).to.contain(['No reviews yet', 'Add the review']).and.to.not.contain('In review</span>');
    const path = new RegExp(`${home}/reviews/[\\w-]{36}`).exec(shown)![0];
    expect((await ada.post(path, { status: 'confirmed', note: '' })).status).to.equal(303);
    expect((await ada.get(`${home}/reviews`)).text).to.contain('<span class="tag">Confirmed</span>').and.to.not.contain('Call &lt;them&gt;');
    expect((await bob.get(`${home}/reviews`)).status).to.equal(404);
    expect((await bob.post(path, { status: 'rejected' })).status).to.equal(404);
    expect((await ada.get(home)).text).to.contain('1 review');
    expect(JSON.parse((await ada.get(`${home}/export`)).text).reviews.records[0]).to.include({ status: 'confirmed', note: null });
    expect((await bob.get(`${home}/export`)).status).to.equal(404);
    expect((await ada.post(`${path}/delete`)).status).to.equal(303);
    expect((await ada.get(`${home}/reviews`)).text).to.contain('No reviews yet');
  });

  it('show reviews to members without forms', async () => {
    const id = (await kit.request('POST', '/api/workspaces', { payload: { name: 'Shared' }, headers: { 'x-api-key': ada.key } })).body.id as string;
    await joinWorkspace(kit, { owner: ada.key, member: bob.key, member_id: bob.id, path: `/api/workspaces/${id}`, role: 'member' });
    await ada.post(`/workspaces/${id}/reviews`, { entry: actor, status: 'rejected' });
    const shown = (await bob.get(`/workspaces/${id}/reviews`)).text;
    expect(shown).to.contain(['Rejected', 'Members with the role reviewer or above write reviews.']).and.to.not.contain('<form class="card form"');
    expect((await bob.post(`/workspaces/${id}/reviews`, { entry: actor, status: 'confirmed' })).status).to.equal(403);
  });

  it('rename and delete a workspace on the pages of the account', async () => {
    const id = (await kit.request('POST', '/api/workspaces', { payload: { name: 'Desk' }, headers: { 'x-api-key': ada.key } })).body.id as string;
    await joinWorkspace(kit, { owner: ada.key, member: bob.key, member_id: bob.id, path: `/api/workspaces/${id}`, role: 'member' });
    expect((await bob.get(`/account/workspaces/${id}`)).text).to.not.contain('Delete this workspace');
    expect((await bob.post(`/account/workspaces/${id}/delete`, { typed_name: 'Desk' })).status).to.equal(403);
    const renamed = await ada.post(`/account/workspaces/${id}`, { name: 'River desk' });
    expect((await ada.get(String(renamed.headers['location']))).text).to.contain(['The workspace was renamed.', 'River desk', 'Delete this workspace']);
    expect((await ada.post(`/account/workspaces/${id}/delete`, { typed_name: 'Desk' })).text).to.contain('This is not the name of the workspace.');
    const deleted = await ada.post(`/account/workspaces/${id}/delete`, { typed_name: 'River desk' });
    expect([deleted.status, deleted.headers['location']]).to.equal([303, '/account/workspaces?done=workspace_deleted']);
    expect((await ada.get(`/workspaces/${id}`)).status).to.equal(404);
    expect((await bob.get('/account/workspaces')).text).to.not.contain('River desk');
    expect((await ada.get(`/account/workspaces/${ada.workspace_id}`)).text).to.not.contain('Delete this workspace');
  });
});
