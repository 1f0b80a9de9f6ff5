import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer, type TestServer } from 'civic/testing';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const HTML = { accept: 'text/html' };

describe('The page that reports a problem', () => {
  let kit: TestServer;
  let actor: any;
  let hidden: any;
  let phone: string;

  before(async () => {
    kit = await testServer({ plugins: ['directory', 'site', 'flags'] });
    const create = async (name: string, visibility: string) => (await kit.request('POST', '/api/entities', {
      payload: {
        type: 'organization', visibility, sources: [{ local_id: 's', url: `https://example.org/${visibility}`, title: 'About <us>' }],
        claims: [{ property: 'name', value: name, source_local_id: 's' }, { property: 'phone', value: '816-555-0160', source_local_id: 's' }, { property: 'place', value: 'gladstone,missouri', source_local_id: 's' }],
      },
      as: { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' },
    })).body;
    actor = await create('Tenants <Union>', 'public');
    hidden = await create('Hidden Union', 'workspace');
    phone = actor.claims.find(({ property }: any) => property === 'phone').id;
  });
  after(() => kit.close());

  const open = (path: string) => kit.request('GET', path, { headers: HTML });
  const send = (fields: Record<string, string>, path = '/report') => kit.request('POST', path, { payload: new URLSearchParams(fields).toString(), headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded' } });
  const latest = async () => (await kit.request('GET', '/api/flags?limit=1', { as: { role: 'reviewer', scope: ['flags:review'] } })).body.data[0];

  it('is linked on the pages of entries and sources', async () => {
    expect((await open(`/actors/${actor.id}`)).text).to.contain(`<a href="/report?entry&#x3D;${actor.id}" rel="nofollow">Report a problem</a>`);
    expect((await open(`/es/sources/${actor.sources[0].id}`)).text).to.contain(`<a href="/es/report?source&#x3D;${actor.sources[0].id}" rel="nofollow">Avisar de un problema</a>`);
  });

  it('is explained where the site explains how to report mistakes', async () => {
    expect((await open('/about')).text).to.contain(['choose “Report a problem” at its end', '<a href="/search">Find the entry</a>']).and.not.contain('contact the operator');
    expect((await open('/es/about')).text).to.contain(['elija “Avisar de un problema”', 'href="/es/search"']);
  });

  it('shows the statements of an entry, and the kinds of problems of a source', async () => {
    const entry = (await open(`/report?entry=${actor.id}&statement=${phone}`)).text;
    expect(entry).to.contain(['Tenants &lt;Union&gt;</a>', 'Phone: 816-555-0160</option>', `<option value="${phone}" selected>`, 'Place: Gladstone', 'Out of date', 'name="robots" content="noindex"']);
    expect(entry).to.not.contain(['The link does not work', '<Union>']);
    const source = (await open(`/report?source=${actor.sources[0].id}`)).text;
    expect(source).to.contain(['About &lt;us&gt;', 'The link does not work']);
    expect(source).to.not.contain(['Which statement', 'Listed twice']);
  });

  it('states that a report of private information hides contacts at once, for people only', async () => {
    const person = (await kit.request('POST', '/api/entities', {
      payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/person' }], claims: [{ property: 'name', value: 'Ada Brandt', source_local_id: 's' }] },
      as: { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' },
    })).body;
    expect((await open(`/report?entry=${person.id}`)).text).to.contain('hides the e-mail address and the phone number of the person at once');
    expect((await open(`/report?entry=${actor.id}`)).text).to.not.contain('at once');
  });

  it('exists for public entries and sources only', async () => {
    for (const query of [`entry=${hidden.id}`, `source=${hidden.sources[0].id}`, 'entry=x', 'source=x', '', 'entry=a&entry=b', `entry=${'a'.repeat(5000)}`]) expect((await open(`/report?${query}`)).status, query.slice(0, 50)).to.equal(404);
    expect((await send({ entry: hidden.id, kind: 'stale', words: 'x' })).status).to.equal(404);
  });

  it('stores a report with its proposal, and shows the receipt and then the decision', async () => {
    const sent = await send({ entry: actor.id, kind: 'incorrect', statement: phone, words: 'They have a new number.', value: '816-555-0199', address: 'https://example.org/contact', website: '' });
    expect(sent.status, sent.text).to.equal(303);
    const flag = await latest();
    expect(flag).to.include({ flag_type: 'incorrect', claim_id: phone, reason: 'They have a new number.', suspicion: null, proposal: { value: '816-555-0199', source_url: 'https://example.org/contact' } });
    const receipt = await open(String(sent.headers.location));
    expect(receipt.text).to.contain(['Thank you for the report', 'Waiting for a reviewer', 'Keep this code']).and.not.contain('new number');
    expect(receipt.headers['cache-control']).to.equal('private, no-store');
    await kit.request('PATCH', `/api/flags/${flag.id}`, { payload: { status: 'dismissed' }, as: { role: 'reviewer', scope: ['flags:review'] } });
    const code = String(sent.headers.location).split('/').at(-1)!.split('?')[0]!;
    const found = await open(`/es/report/receipts?receipt=${code.toLowerCase()}`);
    expect(found.headers.location).to.equal(`/es/report/receipts/${code.toLowerCase()}`);
    expect((await open(String(found.headers.location))).text).to.contain(['Un revisor comprobó el aviso y no cambió nada', 'Qué pasó con un aviso']);
  });

  it('reports problems with places, which reviewers find by the key of the place', async () => {
    for (const [path, href] of [['/places/gladstone,missouri', '/report'], ['/es/places/missouri', '/es/report']] as const) {
      expect((await open(path)).text, path).to.contain(`<a href="${href}?place&#x3D;${encodeURIComponent(path.split('/').at(-1)!)}" rel="nofollow">`);
    }
    const form = (await open('/report?place=gladstone%2Cmissouri')).text;
    expect(form).to.contain(['Gladstone, MO</a>', 'href="/places/gladstone,missouri"', 'Something is missing', 'name="place" value="gladstone,missouri"']);
    expect(form).to.not.contain(['Listed twice', 'Which statement']);
    expect((await send({ place: 'gladstone,missouri', kind: 'duplicate', words: 'x' })).status).to.equal(400);
    for (const place of ['nowhere,xx', 'x'.repeat(500)]) expect((await open(`/report?place=${place}`)).status, place.slice(0, 20)).to.equal(404);
    const sent = await send({ place: 'gladstone,missouri', kind: 'missing', words: 'The library board is not here.' });
    expect(sent.status, sent.text).to.equal(303);
    const flag = await latest();
    expect(flag).to.include({ target_type: 'place', target_id: 'gladstone,missouri', flag_type: 'missing', claim_id: null, reason: 'The library board is not here.' });
    const listed = await kit.request('GET', '/api/flags?target_type=place&place=gladstone,missouri', { as: { role: 'reviewer', scope: ['flags:review'] } });
    expect(listed.body.data.map(({ id }: any) => id)).to.equal([flag.id]);
    for (const status of ['accepted', 'resolved']) expect((await kit.request('PATCH', `/api/flags/${flag.id}`, { payload: { status }, as: { role: 'reviewer', scope: ['flags:review'] } })).status).to.equal(200);
    expect((await open(String(sent.headers.location))).text).to.contain('Corrected');
    const other = (await kit.request('POST', '/api/entity-flags', { payload: { entity_id: actor.id, reason: 'x', flag_type: 'missing' } }));
    expect([other.status, other.body.errors[0].pointer]).to.equal([400, '/flag_type']);
  });

  it('names what is missing or wrong, and keeps what was written', async () => {
    const empty = await send({ entry: actor.id, kind: 'stale', words: ' ', address: 'example', value: 'Right <value>' });
    expect(empty.status).to.equal(400);
    expect(empty.text).to.contain(['id="words-error"', 'Enter the whole address of a web page', 'value="Right &lt;value&gt;"', 'value="stale" required checked']);
    const wrongKind = await send({ entry: actor.id, kind: 'broken_link', words: 'Gone' });
    expect([wrongKind.status, wrongKind.text.includes('Choose what is wrong.'), wrongKind.text.includes('>Gone</textarea>')]).to.equal([400, true, true]);
    expect((await send({ entry: actor.id, words: 'Gone' }, '/es/report')).text).to.contain('Elija qué está mal.');
    expect((await send({ entry: actor.id, kind: 'stale', words: 'x', statement: 'y' })).status).to.equal(400);
  });

  it('suspects a report whose hidden field is filled in', async () => {
    expect((await send({ source: actor.sources[0].id, kind: 'broken_link', words: 'Gone', website: 'https://spam.example' })).status).to.equal(303);
    expect((await latest()).suspicion).to.equal('hidden_field');
  });

  it('rejects a form that another site sends', async () => {
    const foreign = await kit.request('POST', '/report', { payload: `entry=${actor.id}&kind=stale&words=x`, headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' } });
    expect(foreign.status).to.equal(403);
  });

  it('states that a receipt is unknown', async () => {
    for (const code of ['nothing', '<b>', 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA']) {
      const unknown = await open(`/report/receipts/${encodeURIComponent(code)}`);
      expect([unknown.status, unknown.text.includes('No report has this receipt.'), unknown.text.includes('<b>')]).to.equal([404, true, false]);
    }
  });

  it('looks up any text that is typed as a receipt', async () => {
    for (const [typed, path] of [['a&receipt=b', 'a'], ['..', '__'], ['//evil.example', '__evil_example'], ['7xkqd%202m9pf', '7xkqd-2m9pf'], [`${'a'.repeat(99)}%F0%9F%98%80`, `${'a'.repeat(99)}_`]] as const) {
      const { status, headers } = await open(`/report/receipts?receipt=${typed}`);
      expect([status, headers.location], typed).to.equal([302, `/report/receipts/${path}`]);
    }
  });
});
